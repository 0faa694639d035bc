// Which wire may end on which port: the rules live in the contract, because the canvas refuses by them too.
export {
  deprecatedWireTypes,
  isListType,
  innerType,
  isKnownWireType,
  wireMismatch,
} from '../contract/wire-types.ts';
