// Describes itself, and fails when it loads.
import { defineNodeset } from 'agentcanvas';

export default defineNodeset({
  name: 'throws-at-initialize',
  parallelism: 'replicated',
  create: () => ({
    nodes: [],
    initialize() {
      console.error('looking for the scene data');
      throw new Error('the scene data is not there');
    },
  }),
});
