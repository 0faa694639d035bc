// Why runs may not be compared as they are, and the choice that is left: the episodes in common.
import type { Comparison } from '#contract/compare.ts';
import { TriangleAlert } from 'lucide-react';
import { useAddress, useStudio } from '../../store/use-studio.tsx';
import { letterOf } from './pair.ts';

export function Comparability({ comparison }: { readonly comparison: Comparison }) {
  const { navigation } = useStudio();
  const { common } = useAddress();
  const { reasons, refused, runs } = comparison;
  if (reasons.length === 0) return null;
  return (
    <div className="comparability">
      <div className="callout warn" role={refused ? 'alert' : 'note'}>
        <TriangleAlert size={16} aria-hidden="true" />
        <div className="body stack">
          <strong>
            {refused
              ? 'These runs are not compared as they are'
              : 'Only the episodes in common are compared; read the numbers with this in mind'}
          </strong>
          <ul>
            {reasons.map((reason) => (
              <li key={`${reason.runId} ${reason.kind} ${reason.message}`}>
                <span className="letter">
                  {letterOf(runs.findIndex((run) => run.runId === reason.runId))}
                </span>{' '}
                {reason.message}
              </li>
            ))}
          </ul>
          <div className="row wrap">
            {refused ? (
              <button
                type="button"
                className="button primary"
                onClick={() => navigation.change({ common: true })}
              >
                Use only common episodes
              </button>
            ) : common ? (
              <button type="button" className="button" onClick={() => navigation.change({ common: false })}>
                Do not compare them
              </button>
            ) : null}
          </div>
        </div>
      </div>
    </div>
  );
}
