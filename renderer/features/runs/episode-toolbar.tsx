// Filters of the episode table, and what can be done with the rows that pass.
import { Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { episodeStatus, type EpisodeStatus } from '#contract/run.ts';
import type { Compiled } from '../../store/expression.ts';
import { filterNames } from '../../store/filter-fields.ts';
import type { RunSession } from '../../store/run-session.ts';
import { useAddress, useRowsVersion, useStudio } from '../../store/use-studio.tsx';
import { ActionMenu } from '../../ui/action-menu.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Check } from '../../ui/field.tsx';
import { formatCount, formatPlural } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import { useTypedText } from '../../ui/use-typed-text.ts';
import { fullFilter, withCondition } from './condition.ts';
import { FilterBuilder } from './filter-builder.tsx';
import type { LoadedState } from './run-page.tsx';
import { useRunAgain } from './use-run-again.ts';
import { useRunActions } from './use-run-actions.ts';

export interface EpisodeToolbarProps {
  readonly session: RunSession;
  readonly state: LoadedState;
  readonly compiled: Compiled;
  readonly columnMenu: ReactNode;
}

export function EpisodeToolbar({ session, state, compiled, columnMenu }: EpisodeToolbarProps) {
  const { navigation } = useStudio();
  const address = useAddress();
  const { index } = session;
  useRowsVersion(session);
  const [text, setText] = useTypedText(address.filter, (filter) => navigation.change({ filter }));
  const again = useRunAgain(state.record);
  const actions = useRunActions(session.runId);
  const metricNames = state.record.metrics.map((metric) => metric.name);
  const isFiltered = address.filter !== '' || address.statuses.length > 0;
  const shown = index.length;
  const exportFilter = fullFilter(compiled.ok ? compiled.engineText : '', address.statuses);
  const passing = () =>
    Array.from({ length: shown }, (_unused, at) => index.at(at)).filter((row) => row !== undefined);
  const error = again.action.error ?? actions.action.error;
  return (
    <div className="episode-tools">
      <div className="toolbar">
        <div className="search-box filter-box">
          <Search size={14} aria-hidden="true" />
          <input
            type="search"
            className="input search mono"
            aria-label="Filter expression"
            aria-invalid={!compiled.ok}
            aria-describedby={compiled.ok ? undefined : 'filter-problem'}
            placeholder="success == 0 && steps > 400"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        <FilterBuilder
          columns={filterNames(metricNames)}
          onAdd={(condition) => setText(withCondition(text, condition))}
        />
        <StatusFilter
          session={session}
          chosen={address.statuses}
          onChange={(statuses) => navigation.change({ statuses })}
        />
        <Check
          label="Group by error"
          isChecked={address.group}
          onChange={(group) => navigation.change({ group })}
        />
        <span className="grow" />
        {columnMenu}
        <ActionMenu
          label="Actions for these episodes"
          groups={[
            [
              {
                label: `Run ${isFiltered ? 'these' : 'all'} ${formatPlural(shown, 'episode')} again`,
                isDisabled: shown === 0 || again.action.isBusy,
                run: () => again.run(passing()),
              },
            ],
            (['csv', 'json', 'jsonl'] as const).map((format) => ({
              label: `Export ${isFiltered ? 'these' : 'all'} as ${format.toUpperCase()}`,
              isDisabled: shown === 0 || !compiled.ok,
              run: () => actions.exportAs(format, exportFilter),
            })),
          ]}
        />
      </div>
      {compiled.ok ? null : (
        <div className="filter-problem" id="filter-problem" role="alert">
          <code>
            {text.slice(0, compiled.at)}
            <mark>{text.slice(compiled.at, compiled.at + 1) || ' '}</mark>
            {text.slice(compiled.at + 1)}
          </code>{' '}
          {compiled.message} All episodes are shown.
        </div>
      )}
      {error ? <ErrorCallout error={error} /> : null}
    </div>
  );
}

interface StatusFilterProps {
  readonly session: RunSession;
  readonly chosen: readonly EpisodeStatus[];
  readonly onChange: (statuses: readonly EpisodeStatus[]) => void;
}

function StatusFilter({ session, chosen, onChange }: StatusFilterProps) {
  const there = episodeStatus.options.filter(
    (status) => session.index.countOf(status) > 0 || chosen.includes(status),
  );
  if (there.length < 2) return null;
  return (
    <fieldset className="chips">
      <legend className="visually-hidden">Status</legend>
      {there.map((status) => {
        const isOn = chosen.includes(status);
        return (
          <button
            key={status}
            type="button"
            className="chip"
            aria-pressed={isOn}
            onClick={() => onChange(isOn ? chosen.filter((other) => other !== status) : [...chosen, status])}
          >
            <Status status={status} />
            <span className="figures">{formatCount(session.index.countOf(status))}</span>
          </button>
        );
      })}
    </fieldset>
  );
}

/** How many rows there are, pass and wait, in a line that is always there. */
export function EpisodeFooter({
  session,
  state,
}: {
  readonly session: RunSession;
  readonly state: LoadedState;
}) {
  useRowsVersion(session);
  const { rows } = state;
  const { waiting, size, length } = session.index;
  const isLoading = rows !== null && rows.loaded < rows.total;
  return (
    <>
      <output className="figures" data-testid="row-count">
        {formatCount(length)}
        {length === size ? '' : ` of ${formatCount(size)}`} episodes
      </output>
      {isLoading ? (
        <span className="figures">{`reading, ${formatCount(rows.loaded)} of ${formatCount(rows.total)}`}</span>
      ) : null}
      {waiting > 0 ? (
        <span className="figures">
          {formatCount(waiting)} wait to move until the pointer leaves the table and the episode is closed
        </span>
      ) : null}
      <span className="grow" />
      <span>Shift-click a head to sort by one more column</span>
    </>
  );
}
