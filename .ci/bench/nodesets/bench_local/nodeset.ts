// The same environment as a shared nodeset: it runs inside the engine.
import { defineNodeset } from 'agentcanvas';
import { createCounting } from '../counting.ts';

export default defineNodeset({
  name: 'bench_local',
  description: 'Counts steps',
  parallelism: 'shared',
  create: createCounting,
});
