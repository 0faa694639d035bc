// The nodes of the environment. Every forward returns a value, so a step costs no turn of the event loop.
import { defineNode, type ConfigFieldDefinition, type NodeSpec, type Values } from 'agentcanvas';
import { tokenCount, tokenTensor } from './instruction.ts';
import { mapData, mapImage } from './map.ts';
import { actionNames, headingRadians, type AgentPose } from './motion.ts';
import { createCamera, type Frame, type ImageSize } from './render.ts';
import { parseAction, type Running, type Session } from './session.ts';

const viewConfig = { render: true, width: 64, height: 48 };
const viewFields: readonly ConfigFieldDefinition[] = [
  {
    kind: 'toggle',
    name: 'render',
    label: 'Render images',
    description: 'Off: rgb and depth are not emitted.',
  },
  { kind: 'number', name: 'width', label: 'Image width', min: 8, max: 1024, step: 8 },
  { kind: 'number', name: 'height', label: 'Image height', min: 8, max: 1024, step: 8 },
];
const rgbPort = {
  name: 'rgb',
  wireType: 'IMAGE',
  description: 'What the agent sees, (height, width, 3) uint8.',
};
const depthPort = {
  name: 'depth',
  wireType: 'DEPTH',
  description: 'Distance along the optical axis, (height, width) float32, metres.',
};
const posePort = {
  name: 'pose',
  wireType: 'POSE',
  description:
    'Position in metres (x east, y north, z up) and rotation about z as a quaternion; heading 0 looks east.',
};
const statePort = {
  name: 'state',
  wireType: 'ANY',
  description: 'episode_id, scene_id, step, position, heading in degrees.',
};

export function createNodes(session: Session): readonly NodeSpec[] {
  const view = createView();
  return [
    observeNode(session, view),
    stepNode(session, view),
    expertNode(session),
    evaluateNode(session),
    mapNode(session),
  ];
}

type View = (running: Running, config: Values) => Partial<Frame>;

function observeNode(session: Session, view: View): NodeSpec {
  return defineNode({
    name: 'observe',
    displayName: 'MiniVLN start',
    description: 'The chosen episode at its start: first view and the instruction.',
    category: 'environment',
    icon: 'eye',
    kind: 'environment',
    outputs: [
      rgbPort,
      depthPort,
      posePort,
      { name: 'instruction', wireType: 'TEXT', description: 'What to do, in English.' },
      {
        name: 'tokens',
        wireType: 'ANY',
        description: `The instruction as int32 word ids, (${tokenCount}), padded with 0.`,
      },
      statePort,
    ],
    defaultConfig: viewConfig,
    configFields: viewFields,
    forward(_inputs, context, config) {
      const running = session.enter(context.executionId);
      const { instruction } = running.episode;
      return {
        ...view(running, config),
        pose: poseValue(running.pose),
        instruction,
        tokens: tokenTensor(instruction),
        state: stateValue(running),
      };
    },
  });
}

function stepNode(session: Session, view: View): NodeSpec {
  return defineNode({
    name: 'step',
    displayName: 'MiniVLN step',
    description: `Applies one action: ${actionNames.map((name, number) => `${number} ${name}`).join(', ')}.`,
    category: 'environment',
    icon: 'footprints',
    kind: 'environment',
    inputs: [{ name: 'action', wireType: 'DISCRETE_ACTION', description: 'Number or name.' }],
    outputs: [
      rgbPort,
      depthPort,
      posePort,
      { name: 'done', wireType: 'BOOL', description: 'True once STOP was called.' },
      {
        name: 'collided',
        wireType: 'BOOL',
        description: 'The step touched something; the agent slid along it.',
      },
      { name: 'action', wireType: 'DISCRETE_ACTION', description: 'The action applied, as a number.' },
      statePort,
    ],
    defaultConfig: viewConfig,
    configFields: viewFields,
    forward(inputs, context, config) {
      const running = session.enter(context.executionId);
      const action = parseAction(inputs['action']);
      const { collided, done } = running.step(action);
      return {
        ...view(running, config),
        pose: poseValue(running.pose),
        done,
        collided,
        action,
        state: stateValue(running),
      };
    },
  });
}

const triggerPort = { name: 'trigger', wireType: 'ANY', description: 'Anything; says when.', optional: true };

function expertNode(session: Session): NodeSpec {
  return defineNode({
    name: 'expert',
    displayName: 'MiniVLN expert',
    description: 'The next action of the shortest path follower, which knows the map.',
    category: 'policy',
    icon: 'route',
    kind: 'policy',
    inputs: [triggerPort],
    outputs: [{ name: 'action', wireType: 'DISCRETE_ACTION', description: actionNames.join(', ') }],
    forward: (_inputs, context) => ({ action: session.enter(context.executionId).expert() }),
  });
}

function evaluateNode(session: Session): NodeSpec {
  return defineNode({
    name: 'evaluate',
    displayName: 'MiniVLN evaluate',
    description: 'The metrics of the episode so far; wire it behind the loop.',
    category: 'environment',
    icon: 'gauge',
    kind: 'environment',
    inputs: [triggerPort],
    outputs: [{ name: 'metrics', wireType: 'METRICS' }],
    forward: (_inputs, context) => ({ metrics: session.enter(context.executionId).metrics() }),
  });
}

function mapNode(session: Session): NodeSpec {
  return defineNode({
    name: 'map',
    displayName: 'MiniVLN map',
    description: 'The apartment from above with the reference path and the path walked.',
    category: 'environment',
    icon: 'map',
    kind: 'environment',
    inputs: [triggerPort],
    outputs: [
      { name: 'image', wireType: 'IMAGE', description: 'North up, (height, width, 3) uint8.' },
      {
        name: 'map',
        wireType: 'ANY',
        description: 'Rooms, doors, landmarks, start, goal, reference_path and path in metres.',
      },
    ],
    defaultConfig: { pixelsPerMetre: 24 },
    configFields: [
      { kind: 'number', name: 'pixelsPerMetre', label: 'Pixels per metre', min: 4, max: 100, step: 1 },
    ],
    forward(_inputs, context, config) {
      const running = session.enter(context.executionId);
      return {
        image: mapImage(running, requireNumber(config, 'pixelsPerMetre', [4, 100])),
        map: mapData(running),
      };
    },
  });
}

/** Renders with one camera per image size. */
function createView(): View {
  const cameras = new Map<number, ReturnType<typeof createCamera>>();
  const cameraFor = ({ width, height }: ImageSize): ReturnType<typeof createCamera> => {
    const key = width * 2048 + height;
    const camera = cameras.get(key) ?? createCamera({ width, height });
    cameras.set(key, camera);
    return camera;
  };
  return ({ scene, pose }, config) => {
    if (config['render'] === false) return {};
    const width = requireNumber(config, 'width', [8, 1024]);
    return cameraFor({ width, height: requireNumber(config, 'height', [8, 1024]) })(scene, pose);
  };
}

function requireNumber(config: Values, name: string, [low, high]: readonly [number, number]): number {
  const value = Number(config[name]);
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new Error(
    `minivln: ${name} must be a whole number from ${low} to ${high}, not ${String(config[name])}`,
  );
}

function poseValue({ x, y, heading }: AgentPose): Values {
  const half = headingRadians(heading) / 2;
  return { position: [x, y, 0], orientation: [0, 0, Math.sin(half), Math.cos(half)] };
}

function stateValue({ episode, steps, pose, done }: Running): Values {
  return {
    episode_id: episode.episodeId,
    scene_id: episode.sceneId,
    step: steps,
    position: [pose.x, pose.y],
    heading_degrees: pose.heading * 15,
    done,
  };
}
