// Level of detail of a large graph: `plain` where it is so small on the screen that ports cannot be told apart, `tiny`
// where names cannot be read either. Nodes are then boxes, and wires one drawing, so that 500 of them move as easily as
// five.
import { createContext, useContext } from 'react';

export type DetailLevel = 'full' | 'plain' | 'tiny';

export const DetailContext = createContext<DetailLevel>('full');

export function useDetailLevel(): DetailLevel {
  return useContext(DetailContext);
}
