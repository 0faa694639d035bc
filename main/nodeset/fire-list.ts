// Tells child firings from outputs, the same way in the engine and in hosts.
import type { FireListResult, NodeResult } from './author/agentcanvas.ts';

export function isFireList(result: NodeResult): result is FireListResult {
  return 'fireList' in result && Array.isArray(result.fireList);
}
