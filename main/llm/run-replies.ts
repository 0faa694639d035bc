// Where the replies of one run come from and go to: nowhere (live), the run's own folder (record; what is there already
// answers an equal question, so that a resumed or repeated episode goes on as it began), or another run's (replay).
import { statSync } from 'node:fs';
import path from 'node:path';
import { StudioError } from '../base/errors.ts';
import type { ChatRunConfig } from '../contract/chat.ts';
import type { RunChatOptions } from './ports.ts';
import { RecordedReplies, type AskedQuestion, type RecordedReply } from './recorded-replies.ts';

export interface RunReplies {
  readonly config: ChatRunConfig;
  /** Null: ask. Throws `not_found` where nothing may be asked. */
  find(question: AskedQuestion): Promise<RecordedReply | null>;
  keep(question: AskedQuestion, reply: RecordedReply): Promise<void>;
}

export const repliesFolderName = 'replies';

/** Throws `invalid_input` or `not_found` for a replay from nowhere. */
export function openRunReplies(options: RunChatOptions, redact: (text: string) => string): RunReplies {
  const { config, folder } = options;
  switch (config.replies) {
    case 'live':
      return { config, find: () => Promise.resolve(null), keep: () => Promise.resolve() };
    case 'record': {
      const own = new RecordedReplies(path.join(folder, repliesFolderName), redact);
      return { config, find: (question) => own.read(question), keep: (...kept) => own.write(...kept) };
    }
    case 'replay': {
      const source = new RecordedReplies(replaySource(options), redact);
      return {
        config,
        find: async (question) => (await source.read(question)) ?? missed(source.folder, question),
        keep: () => Promise.resolve(),
      };
    }
  }
}

function replaySource({ config: { repliesFrom }, folderOf }: RunChatOptions): string {
  if (repliesFrom === '')
    throw new StudioError(
      'invalid_input',
      'A replay needs to know whose replies: give --replies-from RUN or a folder.',
    );
  const isPath = path.isAbsolute(repliesFrom) || repliesFrom.startsWith('.');
  const folder = isPath ? path.resolve(repliesFrom) : folderOf(repliesFrom);
  for (const candidate of [path.join(folder, repliesFolderName), folder])
    if (
      statSync(candidate, { throwIfNoEntry: false })?.isDirectory() === true &&
      (isPath || candidate !== folder)
    )
      return candidate;
  throw new StudioError(
    'not_found',
    `There are no recorded replies in ${folder}. Record them with --replies record first.`,
  );
}

function missed(folder: string, { nodeId, step, model }: AskedQuestion): never {
  throw new StudioError(
    'not_found',
    `no recorded reply for what node '${nodeId}' asks ${model} in step ${step}: the graph, the model, the seed or the episode differs from the run in ${folder}. Record anew, or run live.`,
  );
}
