// The nodes that give a graph its shape: loop pivots, boundaries, an empty source, notes.
import type { NodeManifest } from '../../contract/nodeset.ts';
import { stepHandle } from '../pivots.ts';
import type { NodeHandler, PortValues } from '../ports.ts';
import { field, inputPort, manifest, outputPort } from './manifest.ts';

const wireTypeOptions = [
  'ANY',
  'TEXT',
  'BOOL',
  'IMAGE',
  'DEPTH',
  'POSE',
  'DISCRETE_ACTION',
  'CONTROL',
  'METRICS',
];

export const pivotManifests: readonly NodeManifest[] = [
  manifest({
    nodeType: 'iterIn',
    displayName: 'Loop start',
    description: 'Begins every iteration with what was handed to it',
    kind: 'control',
    outputPorts: [outputPort(stepHandle, 'ANY', 'Root iteration, from 0')],
    configFields: [field('port_list', 'initPorts', { label: 'Initial ports' })],
  }),
  manifest({
    nodeType: 'iterOut',
    displayName: 'Loop end',
    description: 'Ends every iteration; its final side gives the last values once the loop has ended',
    kind: 'control',
    inputPorts: [inputPort('stop', 'BOOL', 'Ends the loop when true')],
    outputPorts: [outputPort('final_stop', 'BOOL', 'True once the loop has ended')],
    configFields: [field('port_list', 'ports', { label: 'Carried ports' })],
  }),
  manifest({
    nodeType: 'graphIn',
    displayName: 'Graph input',
    description: 'An input of the composite this graph is',
    kind: 'control',
    outputPorts: [outputPort('value', 'ANY')],
    inputPorts: [inputPort('value', 'ANY')],
    defaultConfig: { portName: 'input', wireType: 'ANY' },
    configFields: [field('text', 'portName'), field('select', 'wireType', { options: wireTypeOptions })],
  }),
  manifest({
    nodeType: 'graphOut',
    displayName: 'Graph output',
    description: 'A result of the graph; metrics are read here',
    kind: 'control',
    inputPorts: [inputPort('value', 'ANY')],
    outputPorts: [outputPort('value', 'ANY')],
    defaultConfig: { portName: 'output', wireType: 'ANY' },
    configFields: [field('text', 'portName'), field('select', 'wireType', { options: wireTypeOptions })],
  }),
  manifest({
    nodeType: 'nullSource',
    displayName: 'Empty value',
    description: 'Gives an empty value of a chosen type once, at the start',
    kind: 'control',
    outputPorts: [outputPort('value', 'ANY')],
    defaultConfig: { wire_type: 'ANY' },
    configFields: [field('select', 'wire_type', { options: wireTypeOptions })],
  }),
  manifest({
    nodeType: 'note',
    displayName: 'Note',
    description: 'Text on the canvas; does nothing',
    kind: 'annotation',
    defaultConfig: { markdown: '' },
    configFields: [field('textarea', 'markdown')],
  }),
];

/** Emits the filled slots plus `step`; an empty value fills a slot but is not emitted. */
export const iterInHandler: NodeHandler = {
  forward(inputs, context) {
    const outputs: Record<string, unknown> = { [stepHandle]: context.step };
    for (const handle in inputs) if (inputs[handle] !== null) outputs[handle] = inputs[handle];
    return outputs;
  },
};

export const passThrough: NodeHandler = { forward: (inputs: PortValues) => ({ ...inputs }) };
export const emptySource: NodeHandler = { forward: () => ({ value: null }) };
