// Takes 300 ms to start, without computing.
import { setTimeout as delay } from 'node:timers/promises';
import { defineNodeset } from 'agentcanvas';

export default defineNodeset({
  name: 'sleeper',
  parallelism: 'replicated',
  create: () => ({ nodes: [], initialize: () => delay(300) }),
});
