// Fails when it is imported.
import { defineNodeset } from 'agentcanvas';

readLicence();

function readLicence(): void {
  throw new Error('the licence file is missing');
}

export default defineNodeset({ name: 'throws-at-import', create: () => ({ nodes: [] }) });
