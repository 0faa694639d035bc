// The policy of the Python benchmark: two nodes inside the engine that give the action the table has for this step.
import { readFileSync } from 'node:fs';
import { defineNode, defineNodeset } from 'agentcanvas';

interface ActionTable {
  readonly discrete: boolean;
  readonly slots: readonly (readonly (number | readonly number[])[])[];
}

const tables = new Map<string, readonly (readonly unknown[])[]>();

/** Arrays as they are sent, so that reading the table is no part of a step. */
function tableOf(file: string): readonly (readonly unknown[])[] {
  const known = tables.get(file);
  if (known) return known;
  const { slots } = JSON.parse(readFileSync(file, 'utf8')) as ActionTable;
  const table = slots.map((slot) =>
    slot.map((action) => (typeof action === 'number' ? action : Float32Array.from(action))),
  );
  tables.set(file, table);
  return table;
}

export default defineNodeset({
  name: 'bench_actions',
  parallelism: 'shared',
  create: () => ({
    nodes: [
      defineNode({
        name: 'encode',
        inputs: [{ name: 'observation' }],
        outputs: [{ name: 'feature' }],
        forward: (inputs) => ({ feature: inputs['observation'] }),
      }),
      defineNode({
        name: 'act',
        inputs: [{ name: 'feature' }],
        outputs: [{ name: 'action' }],
        defaultConfig: { file: '', slot: 0 },
        forward: (_inputs, context, config) => {
          const actions = tableOf(String(config['file']))[Number(config['slot'])] ?? [];
          return { action: actions[context.step % actions.length] };
        },
      }),
    ],
  }),
});
