// Fails when an instance is made.
import { defineNodeset } from 'agentcanvas';

export default defineNodeset({
  name: 'throws-at-create',
  parallelism: 'replicated',
  create() {
    throw new Error('no world to create');
  },
});
