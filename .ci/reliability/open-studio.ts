// The whole engine in this process on a bench workspace, and the questions every experiment asks of it.
import type { RequestInput, RequestName, RequestOutput } from '../../main/contract/api.ts';
import type { EvalConfigInput } from '../../main/contract/eval-config.ts';
import type { EpisodeAttempt } from '../../main/contract/run.ts';
import type { Studio, StudioOptions } from '../../main/studio.ts';
import type { BenchWorkspace } from './bench-workspace.ts';
import { studioModule } from './engine-process.ts';

export interface OpenedStudio extends AsyncDisposable {
  readonly studio: Studio;
  /** Throws what the request was refused with. */
  ask<Name extends RequestName>(name: Name, input: RequestInput<Name>): Promise<RequestOutput<Name>>;
  /** Resolves with the status once the run has ended and the engine is free. */
  whenEnded(runId: string): Promise<string>;
  evaluate(config: EvalConfigInput): Promise<{ readonly runId: string; readonly status: string }>;
  attempts(runId: string, ordinal: number): Promise<readonly EpisodeAttempt[]>;
}

/** What children inherit from this process, until it is disposed. */
export function withEnvironment(environment: Readonly<Record<string, string>>): Disposable {
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, environment);
  return {
    [Symbol.dispose]() {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    },
  };
}

export async function openStudio({
  folder,
  environment,
}: Pick<BenchWorkspace, 'folder' | 'environment'>): Promise<OpenedStudio> {
  await using stack = new AsyncDisposableStack();
  stack.use(withEnvironment(environment));
  const { createStudio } = (await import(studioModule())) as {
    createStudio: (options: StudioOptions) => Promise<Studio>;
  };
  const studio = stack.use(await createStudio({ host: 'cli', workspace: folder, trust: [folder] }));
  const ended = new Map<string, string>();
  const waiting = new Set<() => void>();
  stack.use(
    studio.feed.subscribe((message) => {
      if (message.name === 'run.finished') ended.set(message.payload.runId, message.payload.status);
      for (const look of waiting) look();
    }),
  );
  const ask: OpenedStudio['ask'] = async (name, input) => {
    const reply = await studio.dispatcher.dispatch(name, input);
    if (!reply.ok) throw new Error(`${name}: ${reply.error.code}: ${reply.error.message}`);
    return reply.value as RequestOutput<typeof name>;
  };
  const whenEnded: OpenedStudio['whenEnded'] = async (runId) => {
    const status = await new Promise<string>((resolve) => {
      const look = (): void => {
        const found = ended.get(runId);
        if (found === undefined) return;
        ended.delete(runId);
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
    while ((await ask('guard.get', {})).holder !== null)
      await new Promise((resolve) => setTimeout(resolve, 2));
    return status;
  };
  const resources = stack.move();
  return {
    studio,
    ask,
    whenEnded,
    async evaluate(config) {
      const { runId } = await ask('runs.start', { config });
      return { runId, status: await whenEnded(runId) };
    },
    attempts: async (runId, ordinal) => (await ask('runs.attempts', { runId, ordinal })).attempts,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
