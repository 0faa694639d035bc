// The ports one node really has: the rules live in the contract, because the canvas draws by them too.
export {
  resolvedConfig,
  resolvePorts,
  type ResolvedPort,
  type ResolvedPorts,
} from '../contract/node-ports.ts';
