// What metric names mean when a nodeset gives only the name. A metric that is not in the table has no known
// direction and no worst value, so it is shown but never leads.
import type { MetricDefinition } from '../contract/nodeset.ts';

type Known = Omit<MetricDefinition, 'name'>;

const rate: Known = { unit: '', kind: 'rate', higherIsBetter: true, worst: 0 };
const share: Known = { unit: '', kind: 'mean', higherIsBetter: true, worst: 0 };
const metres: Known = { unit: 'm', kind: 'mean', higherIsBetter: false, worst: null };
const count: Known = { unit: '', kind: 'count', higherIsBetter: null, worst: null };

/** Names as VLN-CE, Room-to-Room, Habitat and Gymnasium use them. */
const knownMetrics: Readonly<Record<string, Known>> = {
  success: rate,
  oracle_success: rate,
  spl: share,
  soft_spl: share,
  ndtw: share,
  sdtw: share,
  cls: share,
  distance_to_goal: metres,
  navigation_error: metres,
  oracle_navigation_error: metres,
  path_length: { ...metres, higherIsBetter: null },
  steps_taken: count,
  steps: count,
  length: count,
  collisions: { ...count, higherIsBetter: false },
  return: { unit: '', kind: 'mean', higherIsBetter: true, worst: null },
};

/** The part of a metric an author states; the table and the defaults fill in the rest. */
export type StatedMetric = Partial<{ readonly [Key in keyof Known]: Known[Key] | undefined }> & {
  readonly name: string;
};

/** A full definition from a plain name or a partial definition; what is stated wins over the table. */
export function metricOf(stated: string | StatedMetric): MetricDefinition {
  const given: StatedMetric = typeof stated === 'string' ? { name: stated } : stated;
  const known = Object.hasOwn(knownMetrics, given.name) ? knownMetrics[given.name] : undefined;
  const higherIsBetter =
    given.higherIsBetter === undefined ? (known?.higherIsBetter ?? null) : given.higherIsBetter;
  return {
    name: given.name,
    unit: given.unit ?? known?.unit ?? '',
    kind: given.kind ?? known?.kind ?? 'mean',
    higherIsBetter,
    worst: given.worst === undefined ? (known?.worst ?? null) : given.worst,
  };
}
