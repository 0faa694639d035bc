// The wires of the benchmark's graph: observe -> [ iterIn -> encode -> act -> step -> iterOut ], five nodes a step.

export function loopEdges(): readonly object[] {
  return [
    'observe.observation > in.init_observation',
    'in.init_observation > encode.observation',
    'in.iterout_observation > encode.observation',
    'encode.feature > act.feature',
    'act.action > step.action',
    'step.observation > out.observation',
    'step.done > out.stop',
    'out.final_observation > value.value',
  ].map((text) => {
    const [source, sourceHandle, target, targetHandle] = text.split(/[. >]+/);
    return { id: text, source, sourceHandle, target, targetHandle };
  });
}
