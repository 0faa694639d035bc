// State containers and who may touch them. A grant is a permission, never a wire.
import type { AccessGrant, GraphContainer, GraphDefinition, StateDefinition } from '#contract/graph.ts';
import type { Added, Position } from './node-commands.ts';
import { freshId, takenIds } from './levels.ts';

export const newState: StateDefinition = {
  type: 'lastWrite',
  value_type: 'ANY',
  config: {},
  lifetime: 'episode',
  reset_on: [],
};

/** The first container of a graph gets the well-known id `graph_state`, which chat nodes look for. */
export function addContainer(level: GraphDefinition, position: Position): Added {
  const id = freshId(takenIds(level), 'graph_state');
  const container: GraphContainer = {
    id,
    label: 'State',
    position: { x: Math.round(position.x), y: Math.round(position.y) },
    states: {},
  };
  return { level: { ...level, containers: [...level.containers, container] }, ids: [id] };
}

export function changeContainer(
  level: GraphDefinition,
  id: string,
  change: (container: GraphContainer) => GraphContainer,
): GraphDefinition {
  const containers = level.containers.map((container) =>
    container.id === id ? change(container) : container,
  );
  return containers.every((container, index) => container === level.containers[index])
    ? level
    : { ...level, containers };
}

export function addState(level: GraphDefinition, id: string): GraphDefinition {
  return changeContainer(level, id, (container) => {
    const name = freshId(new Set(Object.keys(container.states)), 'state');
    return { ...container, states: { ...container.states, [name]: newState } };
  });
}

export function setState(
  level: GraphDefinition,
  id: string,
  name: string,
  change: Partial<StateDefinition>,
): GraphDefinition {
  return changeContainer(level, id, (container) => {
    const before = container.states[name];
    if (!before) return container;
    return { ...container, states: { ...container.states, [name]: { ...before, ...change } } };
  });
}

/** Keeps the order; a name that is taken or empty changes nothing. */
export function renameState(level: GraphDefinition, id: string, name: string, next: string): GraphDefinition {
  return changeContainer(level, id, (container) => {
    if (next === '' || next === name || container.states[next] || !container.states[name]) return container;
    const entries = Object.entries(container.states).map(
      ([key, state]) => [key === name ? next : key, state] as const,
    );
    return { ...container, states: Object.fromEntries(entries) };
  });
}

export function removeState(level: GraphDefinition, id: string, name: string): GraphDefinition {
  return changeContainer(level, id, (container) => {
    if (!container.states[name]) return container;
    const { [name]: _gone, ...states } = container.states;
    return { ...container, states };
  });
}

export function hasGrant(level: GraphDefinition, containerId: string, nodeId: string): boolean {
  return level.access_grants.some((grant) => isGrant(grant, containerId, nodeId));
}

export function setGrant(
  level: GraphDefinition,
  containerId: string,
  nodeId: string,
  isGranted: boolean,
): GraphDefinition {
  if (hasGrant(level, containerId, nodeId) === isGranted) return level;
  if (!isGranted) {
    const access_grants = level.access_grants.filter((grant) => !isGrant(grant, containerId, nodeId));
    return { ...level, access_grants };
  }
  const id = freshId(new Set(level.access_grants.map((grant) => grant.id)), `grant_${nodeId}_${containerId}`);
  return {
    ...level,
    access_grants: [...level.access_grants, { id, node_id: nodeId, container_id: containerId }],
  };
}

function isGrant(grant: AccessGrant, containerId: string, nodeId: string): boolean {
  return grant.container_id === containerId && grant.node_id === nodeId;
}
