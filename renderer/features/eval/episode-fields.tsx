// Which episodes: all, the first so many, a range, a seeded sample, or by id.
import { Field, Segments } from '../../ui/field.tsx';
import { formatCount, formatPlural } from '../../ui/format.ts';
import type { FormProps } from './form-fields.tsx';
import { episodeCount, type Environment } from './selectors.ts';

const modes = [
  { value: 'all', label: 'All' },
  { value: 'count', label: 'First' },
  { value: 'range', label: 'Range' },
  { value: 'sample', label: 'Sample' },
  { value: 'ids', label: 'Ids' },
] as const;

export function EpisodeFields({
  environment,
  draft,
  problems,
  change,
}: FormProps & { readonly environment: Environment | null }) {
  const count = environment ? episodeCount(environment, draft.selectors) : undefined;
  const problem =
    problems.mode ??
    problems.count ??
    problems.range ??
    problems.sample ??
    problems.sampleSeed ??
    problems.ids;
  return (
    <Field label="Episodes" problem={problem} hint={countHint(count)}>
      {(ids) => (
        <div className="row wrap">
          <Segments
            label="Episodes"
            value={draft.mode}
            options={modes}
            onChange={(mode) => change({ mode })}
          />
          {draft.mode === 'count' ? (
            <input
              {...ids}
              aria-label="Number of episodes"
              className="input number"
              inputMode="numeric"
              value={draft.count}
              onChange={(event) => change({ count: event.target.value })}
            />
          ) : null}
          {draft.mode === 'range' ? (
            <input
              {...ids}
              aria-label="Range of episodes"
              className="input range"
              placeholder="0-49, 100-149"
              value={draft.range}
              onChange={(event) => change({ range: event.target.value })}
            />
          ) : null}
          {draft.mode === 'sample' ? (
            <>
              <input
                {...ids}
                aria-label="Size of the sample"
                className="input number"
                inputMode="numeric"
                value={draft.sample}
                onChange={(event) => change({ sample: event.target.value })}
              />
              <label className="row small muted">
                seed
                <input
                  className="input number short"
                  inputMode="numeric"
                  value={draft.sampleSeed}
                  onChange={(event) => change({ sampleSeed: event.target.value })}
                />
              </label>
            </>
          ) : null}
          {draft.mode === 'ids' ? (
            <textarea
              {...ids}
              aria-label="Episode ids"
              className="textarea"
              rows={2}
              placeholder="Ids divided by commas, spaces or lines"
              value={draft.ids}
              onChange={(event) => change({ ids: event.target.value })}
            />
          ) : null}
        </div>
      )}
    </Field>
  );
}

function countHint(count: number | null | undefined): string {
  if (count === undefined) return 'The environment tells how many there are once it is loaded.';
  if (count === null) return 'The environment has no fixed number: choose how many.';
  return `There ${count === 1 ? 'is' : 'are'} ${formatPlural(count, 'episode')}, numbered 0 to ${formatCount(Math.max(0, count - 1))}.`;
}
