// No two commands that can be in force together share a key, and none takes a key the browser needs.
import { describe, expect, it } from 'vitest';
import { commands, type CommandScope } from './commands.ts';
import { chordOf, keyLabels, resolveKey, worksWhileTyping, type KeyPress } from './key-bindings.ts';

const press = (key: string, change: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...change,
});

/** Keys that belong to the browser or the system on at least one of them. */
const reserved = [
  'Mod+T',
  'Mod+N',
  'Mod+W',
  'Mod+R',
  'Mod+L',
  'Mod+Q',
  'Mod+P',
  'Mod+Shift+T',
  'Mod+Shift+N',
  'Mod+Shift+C',
  'Mod+Shift+I',
  'Mod+Shift+J',
  'Tab',
  'F5',
];

/** Scopes that are never in force at the same time. */
const apart: readonly (readonly [CommandScope, CommandScope])[] = [
  ['table', 'detail'],
  ['table', 'player'],
  ['detail', 'player'],
  ['canvas', 'table'],
  ['canvas', 'detail'],
  ['canvas', 'player'],
];
const together = (a: CommandScope, b: CommandScope): boolean =>
  !apart.some(([left, right]) => (a === left && b === right) || (a === right && b === left));

describe('command table', () => {
  it('has no clash among commands that can be in force together', () => {
    const bound = commands.flatMap((command) => command.keys.map((keys) => ({ command, keys })));
    const clashes = bound.flatMap((one, at) =>
      bound
        .slice(at + 1)
        .filter((other) => together(one.command.scope, other.command.scope))
        .filter(
          (other) =>
            one.keys === other.keys ||
            one.keys.startsWith(`${other.keys} `) ||
            other.keys.startsWith(`${one.keys} `),
        )
        .map((other) => `${one.command.id} and ${other.command.id} on ${one.keys}`),
    );
    expect(clashes).toEqual([]);
  });

  it('names every command once and takes no key of the browser', () => {
    expect(new Set(commands.map((command) => command.id)).size).toBe(commands.length);
    expect(commands.flatMap((command) => command.keys).filter((keys) => reserved.includes(keys))).toEqual([]);
  });

  it('is written in sentence case without exclamation marks', () => {
    for (const { title } of commands) expect(title).toMatch(/^[A-Z][^!]*[^!.]$/);
  });
});

describe('keys', () => {
  it('turns presses into chords on both kinds of keyboard', () => {
    expect(chordOf(press('k', { ctrlKey: true }), false)).toBe('Mod+K');
    expect(chordOf(press('k', { metaKey: true }), true)).toBe('Mod+K');
    expect(chordOf(press('?', { shiftKey: true }), false)).toBe('?');
    expect(chordOf(press('D', { shiftKey: true }), false)).toBe('Shift+D');
    expect(chordOf(press('>', { shiftKey: true, ctrlKey: true }), false)).toBe('Mod+Shift+.');
    expect(chordOf(press(' '), false)).toBe('Space');
    expect(chordOf(press('Shift', { shiftKey: true }), false)).toBeNull();
  });

  it('resolves single keys, two-step keys and scopes', () => {
    expect(resolveKey('Mod+K', null, ['global'])).toEqual({ kind: 'command', id: 'palette.open' });
    expect(resolveKey('G', null, ['global'])).toEqual({ kind: 'prefix' });
    expect(resolveKey('H', 'G', ['global'])).toEqual({ kind: 'command', id: 'go.history' });
    expect(resolveKey('H', null, ['global'])).toEqual({ kind: 'none' });
    expect(resolveKey('ArrowLeft', null, ['global', 'detail'])).toEqual({
      kind: 'command',
      id: 'detail.previous',
    });
    expect(resolveKey('ArrowLeft', null, ['global'])).toEqual({ kind: 'none' });
  });

  it('lets only Ctrl or Cmd chords and Escape act while typing', () => {
    expect(['Mod+K', 'Mod+S', 'Escape'].map(worksWhileTyping)).toEqual([true, true, true]);
    expect(['?', 'G', '/', 'Mod+Z', 'Mod+C', 'Space'].map(worksWhileTyping)).toEqual(
      Array.from({ length: 6 }, () => false),
    );
  });

  it('shows the keys of the platform', () => {
    expect(keyLabels('Mod+Shift+Enter', false)).toEqual(['Ctrl', 'Shift', 'Enter']);
    expect(keyLabels('Mod+K', true)).toEqual(['⌘', 'K']);
    expect(keyLabels('G E', false)).toEqual(['G', 'E']);
  });
});
