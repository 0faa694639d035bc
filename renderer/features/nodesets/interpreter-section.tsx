// Which interpreter a Python nodeset gets, and giving it another.
import { useState } from 'react';
import type { NodesetSummary } from '#contract/nodeset.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { useAction } from '../../ui/use-request.ts';
import { interpreterSources } from './nodeset-words.ts';

export function InterpreterSection({ nodeset }: { readonly nodeset: NodesetSummary }) {
  const { client, store } = useStudio();
  const { name, interpreter, interpreterPath, interpreterFrom } = nodeset;
  const [text, setText] = useState('');
  const setting = useAction();
  const set = (value: string): void =>
    setting.run(async () => {
      await client.request('nodesets.setInterpreter', { name, interpreter: value });
      const { settings } = await client.request('settings.get', {});
      store.getState().setWorkspace({ settings });
      setText('');
    });
  const isOverridden = interpreterFrom === 'settings';
  return (
    <section className="stack nodeset-part" aria-label="Interpreter">
      <h3>Interpreter</h3>
      <dl className="facts small">
        <dt>Used</dt>
        <dd>
          <span className="mono">{interpreterPath ?? 'none found yet'}</span>
          {interpreterFrom ? <span className="faint"> {interpreterSources[interpreterFrom]}</span> : null}
        </dd>
        {interpreter === undefined ? null : (
          <>
            <dt>It names</dt>
            <dd className="mono">{interpreter}</dd>
          </>
        )}
      </dl>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') set(text.trim());
        }}
      >
        <input
          className="input mono"
          aria-label="Another interpreter"
          placeholder="path, python3.11, conda:NAME, venv:PATH, uv:PACKAGES"
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button" disabled={setting.isBusy || text.trim() === ''}>
          Set
        </button>
      </form>
      {isOverridden ? (
        <button type="button" className="link" disabled={setting.isBusy} onClick={() => set('')}>
          Use what the nodeset names instead
        </button>
      ) : null}
      {setting.error ? <ErrorCallout title="The interpreter was not set." error={setting.error} /> : null}
    </section>
  );
}
