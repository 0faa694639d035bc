// A secret from whoever runs the command: typed on a terminal without echo, or the first line of what is piped in.
// It is never an argument: those stand in the shell's history and in the list of processes.
import { StudioError } from '../../base/errors.ts';

export interface SecretInput extends AsyncIterable<unknown> {
  readonly isTTY?: boolean | undefined;
  setRawMode?(isRaw: boolean): unknown;
}

const mostCharacters = 4000;
const [interrupt, endOfInput] = ['\u0003', '\u0004'];
const backspaces = new Set(['\u0008', '\u007f']);

export interface SecretQuestion {
  readonly input: SecretInput;
  /** Shown on a terminal alone. */
  readonly ask: (text: string) => void;
  readonly prompt: string;
}

/** Rejects with `aborted` on Ctrl-C and with `invalid_input` when nothing was given. */
export async function readSecret({ input, ask, prompt }: SecretQuestion): Promise<string> {
  if (!input.isTTY) return given(await firstLine(input));
  ask(prompt);
  input.setRawMode?.(true);
  try {
    return given(await typedLine(input));
  } finally {
    input.setRawMode?.(false);
    ask('\n');
  }
}

async function firstLine(input: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const part of input) {
    text += String(part);
    if (text.includes('\n') || text.length > mostCharacters) break;
  }
  return text.split('\n', 1)[0] ?? '';
}

async function typedLine(input: AsyncIterable<unknown>): Promise<string> {
  let typed = '';
  for await (const part of input) {
    for (const character of String(part)) {
      if (character === interrupt) throw new StudioError('aborted', 'Nothing was changed.');
      if (character === '\r' || character === '\n' || character === endOfInput) return typed;
      if (backspaces.has(character)) typed = typed.slice(0, -1);
      else if (character >= ' ') typed += character;
    }
  }
  return typed;
}

function given(text: string): string {
  const key = text.trim();
  if (key === '') throw new StudioError('invalid_input', 'No key was given. Nothing was changed.');
  if (key.length > mostCharacters)
    throw new StudioError('invalid_input', `A key has at most ${mostCharacters} characters.`);
  return key;
}
