// Explores every interleaving of a small model: at each state all that could happen next is tried, depth first, by
// playing the way to it anew. States that were seen are not gone on from; a model says what makes two states the same.

export interface Model {
  /** What may happen next, in an order that depends on the state alone. */
  choices(): readonly Choice[];
  /** Everything the future depends on. */
  fingerprint(): string;
  /** What is wrong now. `isEnd`: nothing can happen any more. */
  violations(isEnd: boolean): readonly string[];
}

export interface Choice {
  readonly label: string;
  take(): void;
}

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  readonly ends: number;
  readonly longestPath: number;
  /** The first ones, each with the choices that lead to it. */
  readonly violations: readonly string[];
  /** False: there were more than `mostStates`. */
  readonly isComplete: boolean;
}

export interface ExploreOptions {
  readonly mostStates?: number;
  readonly signal?: AbortSignal;
  /** False: states are told apart by the way to them, so that none is left out. */
  readonly prunes?: boolean;
}

interface Branch {
  /** Choices that lead to the state, as positions. */
  readonly path: readonly number[];
  readonly labels: readonly string[];
  readonly choices: readonly string[];
  next: number;
}

export async function explore(create: () => Model, options: ExploreOptions = {}): Promise<Exploration> {
  const { mostStates = Number.POSITIVE_INFINITY, prunes = true, signal } = options;
  const seen = new Set<string>();
  const violations: string[] = [];
  const branches: Branch[] = [];
  let [states, transitions, ends, longestPath] = [0, 0, 0, 0];

  /** Looks at a state; undefined when it is known, an end, or wrong. */
  const arrive = (model: Model, path: readonly number[], labels: readonly string[]): Branch | undefined => {
    const choices = model.choices();
    const wrong = model.violations(choices.length === 0);
    longestPath = Math.max(longestPath, path.length);
    if (wrong.length > 0) {
      violations.push(`${wrong[0]} after: ${labels.join(', ')}`);
      return undefined;
    }
    if (prunes) {
      const before = seen.size;
      seen.add(model.fingerprint());
      if (seen.size === before) return undefined;
    }
    states++;
    if (choices.length === 0) {
      ends++;
      return undefined;
    }
    return { path, labels, choices: choices.map(({ label }) => label), next: 0 };
  };

  let model = await play(create, []);
  let here = arrive(model, [], []);
  if (here) branches.push(here);
  while (branches.length > 0 && states < mostStates && violations.length < 5) {
    signal?.throwIfAborted();
    const branch = branches.at(-1);
    if (!branch) break;
    if (branch.next >= branch.choices.length) {
      branches.pop();
      here = undefined;
      continue;
    }
    if (here !== branch) {
      model = await play(create, branch.path);
    }
    const position = branch.next++;
    const label = branch.choices[position] ?? '';
    await take(model, position);
    transitions++;
    here = arrive(model, [...branch.path, position], [...branch.labels, label]);
    if (here) branches.push(here);
  }
  return { states, transitions, ends, longestPath, violations, isComplete: branches.length === 0 };
}

/** A model that has come this way. */
export async function play(create: () => Model, path: readonly number[]): Promise<Model> {
  const model = create();
  await turn();
  for (const position of path) await take(model, position);
  return model;
}

async function take(model: Model, position: number): Promise<void> {
  const choice = model.choices()[position];
  if (!choice) throw new Error(`the model is not deterministic: there is no choice ${position}`);
  choice.take();
  await turn();
}

/** All promise reactions run before the next turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
