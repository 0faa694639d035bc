// Handles of the loop pivots: the rules live in the contract, because the canvas draws by them too.
export {
  stopHandle,
  stepHandle,
  finalPrefix,
  initPrefix,
  carryPrefix,
  configPorts,
  pairOf,
  iterInSlots,
  isRecord,
  type ConfigPort,
  type IterInSlot,
} from '../contract/pivots.ts';
