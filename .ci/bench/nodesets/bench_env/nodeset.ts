// The trivial environment in processes of its own.
import { defineNodeset } from 'agentcanvas';
import { createCounting } from '../counting.ts';

export default defineNodeset({
  name: 'bench_env',
  description: 'Counts steps',
  parallelism: 'replicated',
  create: createCounting,
});
