// Gathers one line of text per firing and gives the history so far, for prompts. It lasts as long as the run.
import type { NodeHandler, PortValues } from '../ports.ts';
import { field, inputPort, manifest, outputPort } from './manifest.ts';
import { textOf } from './text-parse.ts';

export const historyLogManifest = manifest({
  nodeType: 'historyLog',
  displayName: 'History log',
  description: 'Gathers a line per firing and gives them all as text',
  kind: 'processing',
  inputPorts: [inputPort('entry', 'TEXT')],
  outputPorts: [outputPort('history', 'TEXT')],
  defaultConfig: { max_entries: 20, template: 'Step {step}: {entry}' },
  configFields: [
    field('slider', 'max_entries', { min: 5, max: 200, step: 5 }),
    field('text', 'template', { label: 'Line; {step} and {entry} are filled in' }),
  ],
});

interface Entry {
  readonly step: number;
  readonly entry: string;
}

const histories = new WeakMap<Map<string, unknown>, Entry[]>();

export function bindHistoryLog(config: PortValues): NodeHandler {
  const limit = Math.max(1, Number(config.max_entries) || 20);
  const template = textOf(config.template) || 'Step {step}: {entry}';
  const lineOf = ({ step, entry }: Entry): string =>
    template.replace(/\{(step|entry)\}/g, (_all, name) => (name === 'step' ? String(step) : entry));
  return {
    forward(inputs, context) {
      const entries = histories.get(context.state) ?? [];
      histories.set(context.state, entries);
      const entry = textOf(inputs.entry).trim();
      if (entry !== '') entries.push({ step: context.step, entry });
      context.log('entry_count', entries.length);
      if (entries.length === 0) return { history: '(no history yet)' };
      const lines = entries.slice(-limit).map(lineOf);
      const omitted = entries.length - lines.length;
      if (omitted > 0) lines.unshift(`(...${omitted} earlier steps omitted)`);
      return { history: lines.join('\n') };
    },
  };
}
