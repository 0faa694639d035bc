// Row `failpoints`: every named point along an episode's life, each with a kill of the engine, a thrown error and a hang,
// early and late in the run; then everything is completed and what is on the disk is audited.
import { failpointActions, failpointNames, type Armed } from '../../main/eval/testing/failpoints.ts';
import { simulateWorkspace } from '../../main/eval/testing/simulation/workspace-world.ts';
import { atScale, Faults, type RowOptions, type RowResult } from './row.ts';

/** The scripted history depends on the seed; these pass every point at least so often. */
const passes = [1, 2, 5] as const;

export async function run({ seed, scale, signal, log }: RowOptions): Promise<RowResult> {
  const faults = new Faults();
  const nths = atScale<readonly number[]>(scale, passes, [1]);
  const seeds = atScale(scale, 5, 1);
  const struck = new Set<string>();
  const points = new Set<string>();
  let [histories, episodes, lives] = [0, 0, 0];
  for (const name of failpointNames) {
    for (const action of failpointActions) {
      for (const nth of nths) {
        for (let history = 0; history < seeds; history++) {
          signal.throwIfAborted();
          const armed: Armed = { name, action, nth };
          const report = await simulateWorkspace(seed * 100 + 3 * history, { failpoint: armed });
          histories++;
          episodes += report.episodes;
          lives += report.lives;
          if (report.failpoints.hasStruck) {
            struck.add(`${name} ${action}`);
            points.add(name);
          }
          for (const violation of report.violations)
            faults.add(`${name} ${action} at pass ${nth}, seed ${report.seed}: ${violation}`);
        }
      }
    }
  }
  const wanted = failpointNames.length * failpointActions.length;
  for (const name of failpointNames) faults.check(points.has(name), () => `${name} was never passed`);
  for (const story of faults.stories) log(story);
  return {
    name: 'failpoints',
    figures: {
      points: points.size,
      'points x actions that struck': `${struck.size} of ${wanted}`,
      histories,
      episodes,
      'lives of the engine': lives,
      'lost, doubled, stuck or wrong': faults.count,
    },
    ok: faults.count === 0 && struck.size === wanted,
    details: { stories: faults.stories },
  };
}
