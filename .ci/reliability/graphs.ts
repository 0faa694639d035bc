// Graphs of the experiments: one loop over an environment, with or without a batched policy.

export interface LoopGraphOptions {
  readonly name: string;
  readonly environment: string;
  /** What the environment's step gives and takes; the plain graph feeds the one into the other. */
  readonly ports: readonly [output: string, input: string];
  /** The node that gives the first observation. */
  readonly start?: string;
  readonly policy?: boolean;
}

interface GraphFile {
  readonly name: string;
  readonly nodes: readonly object[];
  readonly edges: readonly object[];
}

export function loopGraph(options: LoopGraphOptions): GraphFile {
  const { name, environment, start = 'observe', policy = false } = options;
  const [output, input] = options.ports;
  const ports = policy ? [output, 'hidden'] : [output];
  const node = (id: string, type: string, config: object = {}): object => ({
    id,
    type,
    position: { x: 0, y: 0 },
    config,
  });
  const declared = (names: readonly string[]): object[] =>
    names.map((each) => ({ name: each, wire_type: 'ANY', persist: false }));
  const wires: readonly (readonly [string, string])[] = [
    [`start.${output}`, `loop_in.init_${output}`],
    ...(policy ? policyWires(output, input) : plainWires(output, input)),
    [`step.${output}`, `loop_out.${output}`],
    ['step.done', 'loop_out.stop'],
    ['loop_out.final_stop', 'evaluate.trigger'],
    ['evaluate.metrics', 'metrics.value'],
  ];
  return {
    name,
    nodes: [
      node('start', `${environment}__${start}`),
      node('loop_in', 'iterIn', { pairedWith: 'loop_out', initPorts: declared([output]) }),
      ...(policy ? [node('policy', 'policy_onnx', policyConfig)] : []),
      node('step', `${environment}__step`),
      node('loop_out', 'iterOut', { pairedWith: 'loop_in', ports: declared(ports) }),
      node('evaluate', `${environment}__${start === 'observe' ? 'evaluate' : 'score'}`),
      node('metrics', 'graphOut', { portName: 'metrics', wireType: 'METRICS' }),
    ],
    edges: wires.map(([from, to], index) => edge(`e${index}`, from, to)),
  };
}

const policyConfig = {
  model: 'policy.onnx',
  ports: [
    { name: 'observation', wire_type: 'ANY', required: true },
    { name: 'hidden_in', wire_type: 'ANY' },
  ],
  inputs: { observation: {} },
  hidden: { h_in: 'h_out' },
  action: { output: 'logits', choose: 'sample' },
};

function plainWires(output: string, input: string): (readonly [string, string])[] {
  return [
    [`loop_in.init_${output}`, `step.${input}`],
    [`loop_in.iterout_${output}`, `step.${input}`],
  ];
}

function policyWires(output: string, input: string): (readonly [string, string])[] {
  return [
    [`loop_in.init_${output}`, 'policy.observation'],
    [`loop_in.iterout_${output}`, 'policy.observation'],
    ['loop_in.iterout_hidden', 'policy.hidden_in'],
    ['policy.action', `step.${input}`],
    ['policy.hidden_out', 'loop_out.hidden'],
  ];
}

function edge(id: string, from: string, to: string): object {
  const [source, sourceHandle] = from.split('.');
  const [target, targetHandle] = to.split('.');
  return { id, source, sourceHandle, target, targetHandle };
}
