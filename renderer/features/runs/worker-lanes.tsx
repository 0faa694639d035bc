// What each worker does now: episode, step, phase and for how long, idle time, memory, and what it sees.
import type { WorkerView } from '#contract/run.ts';
import { formatBytes, formatDuration, formatWord } from '../../ui/format.ts';
import { useNow } from '../../ui/use-now.ts';
import { WorkerFrame } from './worker-frame.tsx';

const busyPhases: ReadonlySet<WorkerView['phase']> = new Set(['reset', 'step', 'verdict']);

export function WorkerLanes({
  runId,
  workers,
}: {
  readonly runId: string;
  readonly workers: readonly WorkerView[];
}) {
  const now = useNow(500);
  return (
    <section className="lanes" aria-label="Workers">
      <table>
        <thead>
          <tr>
            <th scope="col" className="number">
              Worker
            </th>
            <th scope="col">Sees</th>
            <th scope="col">Episode</th>
            <th scope="col">Step</th>
            <th scope="col">Phase</th>
            <th scope="col" className="number">
              In phase
            </th>
            <th scope="col" className="number">
              Idle
            </th>
            <th scope="col" className="number">
              Memory
            </th>
            <th scope="col" className="number">
              Deaths
            </th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <Lane key={worker.worker} runId={runId} worker={worker} now={now} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Lane({
  runId,
  worker,
  now,
}: {
  readonly runId: string;
  readonly worker: WorkerView;
  readonly now: number;
}) {
  const isBusy = busyPhases.has(worker.phase);
  const share = worker.stepBudget ? Math.min(1, worker.step / worker.stepBudget) : 0;
  return (
    <tr>
      <th scope="row" className="number">
        {worker.worker}
      </th>
      <td>
        <WorkerFrame runId={runId} worker={worker.worker} isBusy={isBusy} />
      </td>
      <td className="lane-episode">
        <div className="clip">
          {worker.episodeId ??
            (worker.ordinal === null ? <span className="faint">none</span> : `number ${worker.ordinal}`)}
        </div>
        {worker.attempt > 1 ? <div className="small faint">attempt {worker.attempt}</div> : null}
      </td>
      <td className="lane-step">
        <div className="figures">
          {isBusy ? worker.step : <span className="faint">–</span>}
          {isBusy && worker.stepBudget !== null ? (
            <span className="faint"> of {worker.stepBudget}</span>
          ) : null}
        </div>
        <div className="thin-bar" aria-hidden="true">
          <span style={{ width: `${isBusy ? share * 100 : 0}%` }} />
        </div>
      </td>
      <td>
        <span className={`phase ${worker.phase}`}>{formatWord(worker.phase)}</span>
      </td>
      <td className="number">
        {formatDuration(Math.max(0, Math.floor((now - worker.phaseSinceMs) / 100) * 100))}
      </td>
      <td className="number">{formatDuration(worker.idleMs)}</td>
      <td className="number">{formatBytes(worker.rssBytes)}</td>
      <td className="number">{worker.deaths}</td>
    </tr>
  );
}
