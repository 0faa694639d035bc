// Proof that a model's fingerprint is enough: whenever two ways lead to states of one fingerprint, what may happen next
// must lead to the same fingerprints from both. Then leaving out states that were seen leaves nothing out.
import { play, type Model } from './explore.ts';

export interface SameFuture {
  readonly states: number;
  /** Ways that led to a state that was known already; each was compared with the first. */
  readonly compared: number;
  /** The first ones: two ways whose ends look the same and are not. */
  readonly differences: readonly string[];
}

interface Next {
  readonly path: readonly number[];
  readonly fingerprint: string;
}

export async function checkSameFuture(create: () => Model): Promise<SameFuture> {
  const root = await play(create, []);
  const known = new Map<string, { readonly path: readonly number[]; future?: string }>();
  known.set(root.fingerprint(), { path: [] });
  const open: Next[] = [{ path: [], fingerprint: root.fingerprint() }];
  const differences: string[] = [];
  let compared = 0;
  for (let state = open.pop(); state && differences.length < 3; state = open.pop()) {
    const successors = await successorsOf(create, state.path);
    const first = known.get(state.fingerprint);
    if (!first) continue;
    first.future ??= futureOf(successors);
    for (const next of successors) {
      const before = known.get(next.fingerprint);
      if (!before) {
        known.set(next.fingerprint, { path: next.path });
        open.push(next);
        continue;
      }
      compared++;
      before.future ??= futureOf(await successorsOf(create, before.path));
      if (futureOf(await successorsOf(create, next.path)) !== before.future)
        differences.push(`${await wayOf(create, before.path)} / ${await wayOf(create, next.path)}`);
    }
  }
  return { states: known.size, compared, differences };
}

async function successorsOf(create: () => Model, path: readonly number[]): Promise<Next[]> {
  const count = (await play(create, path)).choices().length;
  const successors: Next[] = [];
  for (let position = 0; position < count; position++) {
    const longer = [...path, position];
    successors.push({ path: longer, fingerprint: (await play(create, longer)).fingerprint() });
  }
  return successors;
}

/** Choices of like actors lead to one state: each counts once. */
function futureOf(successors: readonly Next[]): string {
  return [...new Set(successors.map(({ fingerprint }) => fingerprint))].sort().join('\n');
}

async function wayOf(create: () => Model, path: readonly number[]): Promise<string> {
  const labels: string[] = [];
  for (const [depth, position] of path.entries())
    labels.push((await play(create, path.slice(0, depth))).choices()[position]?.label ?? '');
  return labels.join(', ');
}
