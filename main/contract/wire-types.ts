// Which wire may end on which port. Types are names; `LIST[T]` is a modifier of the consumer. Deprecated names stay
// valid, and ACTION is the same type as DISCRETE_ACTION.
import { wireTypes, type WireType } from './graph.ts';

const listPattern = /^LIST\[(.*)\]$/;
const known: ReadonlySet<string> = new Set<WireType>(wireTypes);
const aliases: Readonly<Record<string, string>> = { ACTION: 'DISCRETE_ACTION' };

/** Deprecated names and what to write instead. */
export const deprecatedWireTypes: Readonly<Record<string, string>> = {
  ACTION: 'DISCRETE_ACTION',
  OBSERVATION: 'IMAGE, DEPTH and POSE ports',
  STEP_RESULT: 'separate ports for reward, terminated, truncated and info',
};

export function isListType(wireType: string): boolean {
  return listPattern.test(wireType);
}

/** `T` of `LIST[T]`, or the type itself. */
export function innerType(wireType: string): string {
  return listPattern.exec(wireType)?.[1] ?? wireType;
}

/** False for unknown names and for nested lists. */
export function isKnownWireType(wireType: string): boolean {
  return known.has(innerType(wireType));
}

/** Why a wire from `source` may not end on `target`, or undefined when it may. */
export function wireMismatch(source: string, target: string): string | undefined {
  if (source === 'ANY' || target === 'ANY') return undefined;
  if (isListType(source) && !isListType(target))
    return `a list (${source}) cannot enter a port that takes one ${target}`;
  const from = canonical(innerType(source));
  const to = canonical(innerType(target));
  if (from === 'ANY' || to === 'ANY' || from === to) return undefined;
  return `${source} cannot enter a port of type ${target}`;
}

function canonical(name: string): string {
  return aliases[name] ?? name;
}
