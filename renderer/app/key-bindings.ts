// Key presses to commands. Pure: chords are text, so they can be compared, shown and tested.
import { commands, type Command, type CommandId, type CommandScope } from './commands.ts';

export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** `Mod+Shift+.`: the form the command table uses, or null for a modifier alone. */
export function chordOf(press: KeyPress, isMac: boolean): string | null {
  if (['Control', 'Meta', 'Alt', 'Shift'].includes(press.key)) return null;
  const isMod = isMac ? press.metaKey : press.ctrlKey;
  const isLetter = /^[a-z]$/i.test(press.key);
  const key = press.key === ' ' ? 'Space' : isLetter ? press.key.toUpperCase() : unshifted(press);
  // A printable sign such as "?" is itself whatever keys make it; only letters and named keys name Shift.
  const namesShift = press.shiftKey && (isLetter || key.length > 1 || isMod);
  return [isMod && 'Mod', press.altKey && 'Alt', namesShift && 'Shift', key].filter(Boolean).join('+');
}

/** With Ctrl and Shift held, "." arrives as ">" on many layouts. */
function unshifted(press: KeyPress): string {
  return press.key === '>' && press.shiftKey && (press.ctrlKey || press.metaKey) ? '.' : press.key;
}

/** Whether a chord may act while the caret is in a text field. */
export function worksWhileTyping(chord: string): boolean {
  return (chord.startsWith('Mod+') && !editingChords.has(chord)) || chord === 'Escape';
}

/** What a text field does itself. */
const editingChords: ReadonlySet<string> = new Set([
  'Mod+A',
  'Mod+C',
  'Mod+D',
  'Mod+V',
  'Mod+X',
  'Mod+Y',
  'Mod+Z',
  'Mod+Shift+Z',
]);

export type KeyOutcome =
  | { readonly kind: 'command'; readonly id: CommandId }
  | { readonly kind: 'prefix' }
  | { readonly kind: 'none' };

/** `previous` is the chord before this one when it came shortly before, for two-step keys such as `G E`. */
export function resolveKey(
  chord: string,
  previous: string | null,
  scopes: readonly CommandScope[],
): KeyOutcome {
  const usable = commands.filter((command) => scopes.includes(command.scope));
  const sequence = previous === null ? null : `${previous} ${chord}`;
  const inSequence = sequence === null ? undefined : find(usable, sequence);
  if (inSequence) return { kind: 'command', id: inSequence.id };
  const direct = find(usable, chord);
  if (direct) return { kind: 'command', id: direct.id };
  const isPrefix = usable.some((command) => command.keys.some((key) => key.startsWith(`${chord} `)));
  return isPrefix ? { kind: 'prefix' } : { kind: 'none' };
}

const find = (usable: readonly Command[], keys: string): Command | undefined =>
  usable.find((command) => command.keys.includes(keys));

const signs: Readonly<Record<string, string>> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
  PageUp: 'Page up',
  PageDown: 'Page down',
};

/** The keys of a chord as a person sees them on the keyboard. */
export function keyLabels(chord: string, isMac: boolean): string[] {
  return chord
    .split(' ')
    .flatMap((part) =>
      part.split('+').map((key) => (key === 'Mod' ? (isMac ? '⌘' : 'Ctrl') : (signs[key] ?? key))),
    );
}
