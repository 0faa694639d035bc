// The environments of the graph: their selectors in cascade order and their actions, read from the live process.
import { useId, useState } from 'react';
import type { PlayPanel } from '#contract/play.ts';
import type { PanelInfo } from '#contract/nodeset.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { useAction, useLoad } from '../../ui/use-request.ts';
import { useEditorState } from './canvas-context.tsx';
import type { PlayControls } from './use-play.ts';

export function EnvPanel({ controls }: { readonly controls: PlayControls }) {
  const root = useEditorState((state) => state.history.root);
  const { view, isLive, blocked } = controls;
  const needs = new Set(nodesetsOf(root));
  const panels = (view?.panels ?? []).filter(({ nodeset }) => needs.has(nodeset));
  const isBusy = view?.status === 'preparing' || view?.status === 'running' || view?.status === 'stopping';
  if (needs.size === 0)
    return (
      <p className="muted small">This graph has no environment yet. Nodes of a nodeset bring theirs along.</p>
    );
  return (
    <div className="stack">
      {panels.map((panel) => (
        <Panel key={panel.nodeset} panel={panel} isBusy={isBusy} controls={controls} />
      ))}
      {panels.length === 0 ? (
        <>
          <p className="muted small">
            {view?.isPrepared
              ? 'The nodesets of this graph have no env panel.'
              : 'Load the environment to choose its episode before playing. Play loads it, too.'}
          </p>
          {view?.isPrepared ? null : (
            <button
              type="button"
              className="button"
              disabled={isLive || blocked !== null}
              onClick={controls.prepare}
            >
              Load environment
            </button>
          )}
        </>
      ) : null}
      {view?.isPrepared ? (
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={isLive}
            title="Ends its processes and gives the memory back"
            onClick={controls.release}
          >
            Unload
          </button>
        </div>
      ) : null}
    </div>
  );
}

function nodesetsOf(root: {
  readonly nodes: readonly { readonly type: string; readonly subgraph?: unknown }[];
}): string[] {
  return root.nodes.flatMap((node) => {
    const separator = node.type.indexOf('__');
    const own = separator > 0 ? [node.type.slice(0, separator)] : [];
    const inner = node.subgraph;
    return inner && typeof inner === 'object' && 'nodes' in inner
      ? [...own, ...nodesetsOf(inner as typeof root)]
      : own;
  });
}

interface PanelProps {
  readonly panel: PlayPanel;
  readonly isBusy: boolean;
  readonly controls: PlayControls;
}

function Panel({ panel, isBusy, controls }: PanelProps) {
  const { client } = useStudio();
  const asking = useAction();
  const { nodeset, info, state } = panel;
  const act = (action: PanelInfo['actions'][number]): void => {
    switch (action.sideEffect) {
      case 'run_start':
        return controls.play();
      case 'run_pause':
        return controls.play();
      case 'run_stop':
        return controls.stop();
      case 'run_step':
        return controls.step('iteration');
      case 'signal':
      case 'none':
        asking.run(async () =>
          controls.take(await client.request('panel.action', { nodeset, name: action.name })),
        );
    }
  };
  const canRun = (effect: string): boolean => {
    const status = controls.view?.status;
    if (effect === 'run_start')
      return status !== 'running' && status !== 'preparing' && controls.blocked === null;
    if (effect === 'run_pause') return status === 'running';
    if (effect === 'run_stop') return controls.isLive;
    return !isBusy;
  };
  const episode = state.currentEpisode;
  return (
    <section className="stack" aria-label={`Environment ${nodeset}`}>
      <h3>{nodeset}</h3>
      {info.fields.map((field) => (
        <PanelFieldRow
          key={field.name}
          nodeset={nodeset}
          field={field}
          values={state.values}
          isDisabled={isBusy || asking.isBusy}
          onChange={(value) =>
            asking.run(async () =>
              controls.take(await client.request('panel.field', { nodeset, name: field.name, value })),
            )
          }
        />
      ))}
      {state.error ? <p className="problem small">{state.error}</p> : null}
      {state.message ? <p className="small muted">{state.message}</p> : null}
      {asking.error ? <ErrorCallout title="The environment refused." error={asking.error} /> : null}
      <div className="row wrap">
        {info.actions.map((action) => (
          <button
            key={action.name}
            type="button"
            className="button"
            disabled={!canRun(action.sideEffect) || asking.isBusy}
            onClick={() => act(action)}
          >
            {action.label || action.name}
          </button>
        ))}
      </div>
      {episode ? (
        <dl className="facts small">
          {episode.episodeId ? (
            <>
              <dt>Episode</dt>
              <dd>{episode.episodeId}</dd>
            </>
          ) : null}
          {episode.sceneId ? (
            <>
              <dt>Scene</dt>
              <dd>{episode.sceneId}</dd>
            </>
          ) : null}
          {episode.instruction ? (
            <>
              <dt>Instruction</dt>
              <dd>{episode.instruction}</dd>
            </>
          ) : null}
        </dl>
      ) : null}
    </section>
  );
}

interface PanelFieldRowProps {
  readonly nodeset: string;
  readonly field: PanelInfo['fields'][number];
  readonly values: Readonly<Record<string, unknown>>;
  readonly isDisabled: boolean;
  readonly onChange: (value: unknown) => void;
}

function PanelFieldRow({ nodeset, field, values, isDisabled, onChange }: PanelFieldRowProps) {
  const { client } = useStudio();
  const id = useId();
  const value = values[field.name];
  const isSelect = field.kind === 'select';
  // Options may depend on the fields before this one.
  const key = isSelect && !isDisabled ? `${nodeset} ${field.name} ${JSON.stringify(values)}` : null;
  const asked = useLoad(key, (signal) =>
    client.request('panel.options', { nodeset, name: field.name }, signal),
  );
  const [options, setOptions] = useState<readonly unknown[]>(field.options ?? []);
  const fresh = asked.value?.options;
  // The old options stay until the new ones are there.
  if (fresh && fresh.length > 0 && fresh !== options) setOptions(fresh);
  return (
    <div className="stacked-field">
      <label className="label" htmlFor={id}>
        {field.label || field.name}
      </label>
      {isSelect ? (
        <select
          id={id}
          className="select"
          disabled={isDisabled}
          value={textOf(value)}
          onChange={(event) => onChange(optionOf(options, event.target.value))}
        >
          {options.some((option) => textOf(rawOf(option)) === textOf(value)) ? null : (
            <option value={textOf(value)}>{textOf(value) || 'Not chosen'}</option>
          )}
          {options.map((option) => (
            <option key={textOf(rawOf(option))} value={textOf(rawOf(option))}>
              {labelOf(option)}
            </option>
          ))}
        </select>
      ) : (
        <TypedField id={id} value={value} kind={field.kind} isDisabled={isDisabled} onChange={onChange} />
      )}
    </div>
  );
}

interface TypedFieldProps {
  readonly id: string;
  readonly value: unknown;
  readonly kind: string;
  readonly isDisabled: boolean;
  readonly onChange: (value: unknown) => void;
}

/** Sent when it is complete: on Enter, or when the field is left. */
function TypedField({ id, value, kind, isDisabled, onChange }: TypedFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const isNumber = kind === 'number' || kind === 'slider';
  const send = (): void => {
    if (typed !== null && typed !== textOf(value)) {
      const number = Number(typed);
      if (!isNumber) onChange(typed);
      else if (typed.trim() !== '' && Number.isFinite(number)) onChange(number);
    }
    setTyped(null);
  };
  return (
    <input
      id={id}
      className={isNumber ? 'input number' : 'input'}
      inputMode={isNumber ? 'decimal' : 'text'}
      disabled={isDisabled}
      value={typed ?? textOf(value)}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={send}
      onKeyDown={(event) => event.key === 'Enter' && send()}
    />
  );
}

const textOf = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : String(JSON.stringify(value));

const rawOf = (option: unknown): unknown =>
  option !== null && typeof option === 'object' && 'value' in option ? option.value : option;

const labelOf = (option: unknown): string =>
  option !== null && typeof option === 'object' && 'label' in option ? String(option.label) : textOf(option);

const optionOf = (options: readonly unknown[], text: string): unknown => {
  const found = options.find((option) => textOf(rawOf(option)) === text);
  return found === undefined ? text : rawOf(found);
};
