// Never becomes ready.
import { defineNodeset } from 'agentcanvas';

export default defineNodeset({
  name: 'hangs-in-start',
  parallelism: 'replicated',
  startupTimeoutSec: 1,
  create: () => ({
    nodes: [],
    initialize() {
      for (;;);
    },
  }),
});
