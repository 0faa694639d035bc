// The one table of commands: palette, keys, tooltips and the key sheet read it. A test forbids clashes.
import type { Page } from '../store/address.ts';

export type CommandScope = 'global' | 'table' | 'detail' | 'player' | 'canvas';

export interface Command {
  readonly id: CommandId;
  readonly title: string;
  readonly scope: CommandScope;
  /** Chords, first one shown: `Mod+K`, `G E` (one after the other), `ArrowLeft`. Mod is Ctrl, on a Mac Cmd. */
  readonly keys: readonly string[];
  /** Shown in the palette; table and detail keys are not. */
  readonly inPalette: boolean;
}

export type CommandId =
  | 'palette.open'
  | 'keys.show'
  | 'search.focus'
  | 'back'
  | 'theme.toggle'
  | 'help.open'
  | `go.${Page}`
  | 'run.start'
  | 'run.stop'
  | 'run.cancel'
  | 'run.resume'
  | 'run.view.next'
  | 'command.copy'
  | 'table.up'
  | 'table.down'
  | 'table.pageUp'
  | 'table.pageDown'
  | 'table.first'
  | 'table.last'
  | 'table.open'
  | 'table.left'
  | 'table.right'
  | 'table.copy'
  | 'table.tick'
  | 'detail.previous'
  | 'detail.next'
  | 'player.toggle'
  | 'player.back'
  | 'player.forward'
  | 'player.first'
  | 'player.last'
  | 'player.slower'
  | 'player.faster'
  | 'player.previousEpisode'
  | 'player.nextEpisode'
  | 'canvas.save'
  | 'canvas.undo'
  | 'canvas.redo'
  | 'canvas.copy'
  | 'canvas.cut'
  | 'canvas.paste'
  | 'canvas.duplicate'
  | 'canvas.selectAll'
  | 'canvas.delete'
  | 'canvas.find'
  | 'canvas.layout'
  | 'canvas.fit'
  | 'canvas.panels'
  | 'canvas.group'
  | 'canvas.ungroup'
  | 'canvas.open'
  | 'canvas.leave'
  | 'canvas.play'
  | 'canvas.stepFiring'
  | 'canvas.stepIteration'
  | 'canvas.stop'
  | 'canvas.firingBack'
  | 'canvas.stepBack'
  | 'canvas.stepForward'
  | 'canvas.firstStep'
  | 'canvas.lastStep'
  | 'canvas.slower'
  | 'canvas.faster';

const global = (id: CommandId, title: string, ...keys: string[]): Command => ({
  id,
  title,
  scope: 'global',
  keys,
  inPalette: true,
});
const scoped = (scope: CommandScope, id: CommandId, title: string, ...keys: string[]): Command => ({
  id,
  title,
  scope,
  keys,
  inPalette: false,
});

export const commands: readonly Command[] = [
  { ...global('palette.open', 'Search graphs, runs and actions', 'Mod+K'), inPalette: false },
  global('keys.show', 'Show all keys', '?'),
  { ...global('search.focus', 'Search on this page', '/'), inPalette: false },
  { ...global('back', 'Back, close or let go of the selection', 'Escape'), inPalette: false },
  global('theme.toggle', 'Switch between light and dark', 'Shift+D'),
  global('help.open', 'Help: open the documentation', 'F1'),
  global('go.evaluate', 'Go to Evaluate', 'G E'),
  global('go.history', 'Go to History', 'G H'),
  global('go.compare', 'Go to Compare', 'G C'),
  global('go.replay', 'Go to Replay', 'G R'),
  global('go.canvas', 'Go to Canvas', 'G V'),
  global('go.nodesets', 'Go to Nodesets', 'G N'),
  global('go.settings', 'Go to Settings', 'G S'),
  global('run.start', 'Start the evaluation, or add it to the queue', 'Mod+Enter'),
  global('run.stop', 'Stop the open run: finish the episodes in flight', 'Mod+.'),
  global('run.cancel', 'Cancel the open run now', 'Mod+Shift+.'),
  global('run.resume', 'Resume the open run', 'Mod+Shift+Enter'),
  global('run.view.next', 'Next view of the open run', 'V'),
  global('command.copy', 'Copy the equivalent command line', 'Y'),
  scoped('table', 'table.up', 'Row above', 'ArrowUp'),
  scoped('table', 'table.down', 'Row below', 'ArrowDown'),
  scoped('table', 'table.pageUp', 'A page up', 'PageUp'),
  scoped('table', 'table.pageDown', 'A page down', 'PageDown'),
  scoped('table', 'table.first', 'First row', 'Home'),
  scoped('table', 'table.last', 'Last row', 'End'),
  scoped('table', 'table.open', 'Open the row', 'Enter'),
  scoped('table', 'table.left', 'Cell to the left', 'ArrowLeft'),
  scoped('table', 'table.right', 'Cell to the right', 'ArrowRight'),
  scoped('table', 'table.copy', 'Copy the cell', 'Mod+C'),
  scoped('table', 'table.tick', 'Tick the row', 'X'),
  scoped('detail', 'detail.previous', 'Previous episode', 'ArrowLeft'),
  scoped('detail', 'detail.next', 'Next episode', 'ArrowRight'),
  scoped('player', 'player.toggle', 'Play or pause', 'Space'),
  scoped('player', 'player.back', 'One step back', 'ArrowLeft'),
  scoped('player', 'player.forward', 'One step forward', 'ArrowRight'),
  scoped('player', 'player.first', 'First step', 'Home'),
  scoped('player', 'player.last', 'Last step', 'End'),
  scoped('player', 'player.slower', 'Slower', '['),
  scoped('player', 'player.faster', 'Faster', ']'),
  scoped('player', 'player.previousEpisode', 'Previous recorded episode', 'P'),
  scoped('player', 'player.nextEpisode', 'Next recorded episode', 'N'),
  scoped('canvas', 'canvas.save', 'Save the graph', 'Mod+S'),
  scoped('canvas', 'canvas.undo', 'Undo', 'Mod+Z'),
  scoped('canvas', 'canvas.redo', 'Redo', 'Mod+Shift+Z', 'Mod+Y'),
  scoped('canvas', 'canvas.copy', 'Copy the selection', 'Mod+C'),
  scoped('canvas', 'canvas.cut', 'Cut the selection', 'Mod+X'),
  scoped('canvas', 'canvas.paste', 'Paste nodes', 'Mod+V'),
  scoped('canvas', 'canvas.duplicate', 'Duplicate the selection', 'Mod+D'),
  scoped('canvas', 'canvas.selectAll', 'Select everything', 'Mod+A'),
  scoped('canvas', 'canvas.delete', 'Remove the selection', 'Delete', 'Backspace'),
  scoped('canvas', 'canvas.find', 'Find in the graph', 'Mod+F'),
  scoped('canvas', 'canvas.layout', 'Lay the graph out', 'L'),
  scoped('canvas', 'canvas.fit', 'Show the whole graph', 'F'),
  scoped('canvas', 'canvas.panels', 'Hide or show the panels', 'B'),
  scoped('canvas', 'canvas.group', 'Group into a composite', 'Mod+G'),
  scoped('canvas', 'canvas.ungroup', 'Take a composite apart', 'Mod+Shift+G'),
  scoped('canvas', 'canvas.open', 'Open the selected composite', 'Enter'),
  scoped('canvas', 'canvas.leave', 'Leave the composite', 'Alt+ArrowUp'),
  scoped('canvas', 'canvas.play', 'Play or pause', 'Space'),
  scoped('canvas', 'canvas.stepFiring', 'Step one firing', 'N'),
  scoped('canvas', 'canvas.stepIteration', 'Step one iteration', 'Shift+N'),
  scoped('canvas', 'canvas.stop', 'Stop playing', 'Shift+X'),
  scoped('canvas', 'canvas.firingBack', 'Recorded episode: one firing back', 'P'),
  scoped('canvas', 'canvas.stepBack', 'Recorded episode: one step back', 'ArrowLeft'),
  scoped('canvas', 'canvas.stepForward', 'Recorded episode: one step forward', 'ArrowRight'),
  scoped('canvas', 'canvas.firstStep', 'Recorded episode: first step', 'Home'),
  scoped('canvas', 'canvas.lastStep', 'Recorded episode: last step', 'End'),
  scoped('canvas', 'canvas.slower', 'Recorded episode: slower', '['),
  scoped('canvas', 'canvas.faster', 'Recorded episode: faster', ']'),
];

export function commandOf(id: CommandId): Command {
  const command = commands.find((candidate) => candidate.id === id);
  if (!command) throw new Error(`No command is called ${id}.`);
  return command;
}

export const scopeTitles: Readonly<Record<CommandScope, string>> = {
  global: 'Everywhere',
  table: 'In tables',
  detail: 'In an open episode',
  player: 'In Replay',
  canvas: 'On the canvas',
};
