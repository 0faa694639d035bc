// The runs of a comparison: baseline first, with swap, remove and add.
import { ArrowUpToLine, Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { Comparison } from '#contract/compare.ts';
import { formatAddress, home } from '../../store/address.ts';
import { isActive } from '../../store/run-session.ts';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { formatCount } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import { Tip } from '../../ui/tip.tsx';
import { ChooseRun } from '../../ui/choose-run.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { letterOf, type ComparedRun } from './pair.ts';

const mostRuns = 20;

export interface ChosenRunsProps {
  readonly runIds: readonly string[];
  readonly comparison: Comparison | null;
  readonly onChange: (runIds: readonly string[]) => void;
}

export function ChosenRuns({ runIds, comparison, onChange }: ChosenRunsProps) {
  const [isAdding, setAdding] = useState(false);
  return (
    <div className="chosen-runs">
      <ol aria-label="Chosen runs">
        {runIds.map((runId, at) => (
          <li key={runId} className="chosen-run">
            <span className="letter" aria-hidden="true">
              {letterOf(at)}
            </span>
            <RunWords runId={runId} run={comparison?.runs.find((run) => run.runId === runId)} />
            {at === 0 ? (
              <span className="chip">baseline</span>
            ) : (
              <Tip text="Make it the baseline">
                <button
                  type="button"
                  className="button plain icon"
                  aria-label={`Make ${runId} the baseline`}
                  onClick={() => onChange([runId, ...runIds.filter((other) => other !== runId)])}
                >
                  <ArrowUpToLine size={14} aria-hidden="true" />
                </button>
              </Tip>
            )}
            <Tip text="Leave it out">
              <button
                type="button"
                className="button plain icon"
                aria-label={`Leave ${runId} out`}
                onClick={() => onChange(runIds.filter((other) => other !== runId))}
              >
                <X size={14} aria-hidden="true" />
              </button>
            </Tip>
          </li>
        ))}
      </ol>
      {runIds.length < mostRuns ? (
        <button type="button" className="button" onClick={() => setAdding(true)}>
          <Plus size={14} aria-hidden="true" /> Add a run
        </button>
      ) : null}
      {isAdding ? (
        <ChooseRun
          title={runIds.length === 0 ? 'Baseline' : 'Run to compare with the baseline'}
          without={runIds}
          onChoose={(runId) => {
            setAdding(false);
            onChange([...runIds, runId]);
          }}
          onClose={() => setAdding(false)}
        />
      ) : null}
    </div>
  );
}

function RunWords({ runId, run }: { readonly runId: string; readonly run: ComparedRun | undefined }) {
  const progress = useStudioState((state) => (state.progress?.runId === runId ? state.progress : null));
  const known = useStudioState((state) => state.items[runId]);
  const { client } = useStudio();
  // One run alone is not compared yet, so nobody told its name.
  const alone = useLoad(run ? null : `name of ${runId}`, (signal) =>
    client.request('runs.get', { runId }, signal),
  );
  const status = known?.status ?? run?.status;
  const counts = (isActive(status ?? null) ? progress?.counts : null) ?? run?.counts;
  return (
    <span className="row grow">
      <a className="clip" href={formatAddress({ ...home, page: 'history', run: runId })} title={runId}>
        {run?.name ?? alone.value?.record.name ?? runId}
      </a>
      {run ? (
        <>
          <span className="clip small muted">
            {[run.envName, run.split, run.importedFrom ? 'imported' : ''].filter(Boolean).join(' · ')}
          </span>
          <span className="small">
            <Status status={status ?? run.status} />
          </span>
          <span className="small figures muted">
            {counts ? `${formatCount(counts.planned - counts.notRun)} / ${formatCount(counts.planned)}` : ''}
          </span>
        </>
      ) : null}
    </span>
  );
}
