// The comparison as a file: LaTeX, a report that opens offline, CSV, JSON; or a table on the clipboard.
import { Download } from 'lucide-react';
import { useState } from 'react';
import type { RequestInput } from '#contract/api.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ActionMenu } from '../../ui/action-menu.tsx';
import { copyText } from '../../ui/copy-button.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { useAction } from '../../ui/use-request.ts';
import { download } from '../../ui/download.ts';

type Format = RequestInput<'runs.exportComparison'>['format'];

export function useComparisonExport(runs: readonly string[], commonOnly: boolean) {
  const { client } = useStudio();
  const action = useAction();
  const [note, setNote] = useState('');
  const made = (format: Format) =>
    client.request('runs.exportComparison', { runIds: [...runs], commonOnly, format });
  const save = (format: Format) => (): void => {
    setNote('');
    action.run(async () => {
      const file = await made(format);
      download(file);
      setNote(`${file.fileName} was saved.`);
    });
  };
  const copy = (): void =>
    action.run(async () => {
      const { content } = await made('tsv');
      setNote((await copyText(content)) ? 'The table was copied.' : 'The clipboard is not available.');
    });
  const menu = (
    <ActionMenu
      label="Export"
      trigger={
        <>
          <Download size={14} aria-hidden="true" /> Export
        </>
      }
      groups={[
        [
          { label: 'LaTeX table', run: save('latex') },
          { label: 'Report (HTML, opens offline)', run: save('html') },
          { label: 'CSV', run: save('csv') },
          { label: 'JSON', run: save('json') },
        ],
        [{ label: 'Copy table for a spreadsheet', run: copy }],
      ]}
    />
  );
  const trouble = action.error ? (
    <div className="comparability">
      <ErrorCallout title="The export failed." error={action.error}>
        <button type="button" className="button" onClick={action.clear}>
          Dismiss
        </button>
      </ErrorCallout>
    </div>
  ) : note === '' ? null : (
    <output className="comparability small muted">{note}</output>
  );
  return { menu, trouble };
}
