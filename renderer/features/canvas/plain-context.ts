// Level of detail: true where a large graph is so small on the screen that ports cannot be told apart. Nodes are then a
// box with a name, and wires one drawing, so that 500 of them move as easily as five.
import { createContext, useContext } from 'react';

export const PlainContext = createContext(false);

export function useIsPlain(): boolean {
  return useContext(PlainContext);
}
