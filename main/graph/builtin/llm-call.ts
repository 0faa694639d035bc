// The chat node: fills the template from what arrived, keeps the conversation where the graph says, and asks the chat
// port. It knows nothing of providers.
import { StudioError } from '../../base/errors.ts';
import { isRecord, configPorts } from '../pivots.ts';
import type { FiringContext, NodeHandler, PortValues } from '../ports.ts';
import type { ChatMessage, ChatPort, ChatReply, ChatRequest } from './chat-port.ts';
import { field, inputPort, manifest, outputPort } from './manifest.ts';
import { textOf } from './text-parse.ts';

const textInputs = ['scene', 'history', 'plan', 'instruction', 'context', 'system_prompt', 'prompt'];

export const chatNodeManifest = manifest({
  nodeType: 'llmCall',
  displayName: 'Language model',
  description: 'Fills a template and asks a language model, with images where they are wired',
  kind: 'llm',
  inputPorts: [
    ...textInputs.map((name) => inputPort(name, 'TEXT')),
    inputPort('pose', 'POSE'),
    inputPort('rgb', 'LIST[IMAGE]'),
    inputPort('image_labels', 'LIST[TEXT]', 'One per image'),
  ],
  outputPorts: [outputPort('response', 'TEXT'), outputPort('responses', 'LIST[TEXT]', 'Every sample')],
  defaultConfig: { profile: '', mode: 'single_turn', n: 1, image_detail: 'low', image_mime: 'image/png' },
  configFields: [
    field('port_list', 'ports', { label: 'Inputs' }),
    field('textarea', 'template', { label: 'Template; {name} stands for an input' }),
    field('textarea', 'system_prompt'),
    field('select', 'profile', { label: 'Model' }),
    field('slider', 'temperature', { min: 0, max: 2, step: 0.1, description: 'Unset: the provider decides' }),
    field('slider', 'max_tokens', {
      min: 64,
      max: 8192,
      step: 64,
      description: 'Unset: the provider decides',
    }),
    field('slider', 'n', { min: 1, max: 10, step: 1, label: 'Samples' }),
    field('select', 'image_detail', { options: ['low', 'high', 'auto'] }),
    field('select', 'image_mime', { options: ['image/png', 'image/jpeg'] }),
    field('select', 'mode', { options: ['single_turn', 'conversation'] }),
    field('text', 'write_to_state', { label: 'Write the reply to this state of graph_state' }),
  ],
});

/** The well-known container a chat node reads template variables and its conversation from. */
const blackboard = 'graph_state';
const notVariables: ReadonlySet<string> = new Set(['prompt', 'rgb', 'image_labels', 'system_prompt', 'pose']);
const variablePattern = /\{(\w+)\}/g;

export function bindChatNode(nodeId: string, config: PortValues, chat: ChatPort | undefined): NodeHandler {
  return {
    async forward(inputs, context) {
      if (!chat) {
        throw new StudioError(
          'unsupported',
          `node '${nodeId}' asks a language model, but no chat provider is set up; add one in Settings`,
        );
      }
      const prompt = inputs.prompt ? textOf(inputs.prompt) : rendered(nodeId, config, inputs, context);
      context.log('rendered_prompt', prompt);
      const request = requestOf({ nodeId, config, inputs, context, prompt });
      const reply = await chat.complete(request, context.signal);
      return remembered(config, context, reply);
    },
  };
}

function remembered(config: PortValues, context: FiringContext, reply: ChatReply): PortValues {
  const response = reply.responses[0] ?? '';
  if (reply.model !== undefined) context.log('model', reply.model);
  if (reply.usage) context.log('usage', reply.usage);
  if (response !== '' && config.mode === 'conversation') {
    context.containers.write(blackboard, 'messages', { role: 'assistant', content: response });
  }
  const state = textOf(config.write_to_state);
  if (state !== '' && response !== '' && seesBlackboard(context))
    context.containers.write(blackboard, state, response);
  return { response, responses: [...reply.responses] };
}

function seesBlackboard(context: FiringContext): boolean {
  return context.containers.granted.includes(blackboard);
}

interface RequestParts {
  readonly nodeId: string;
  readonly config: PortValues;
  readonly inputs: PortValues;
  readonly context: FiringContext;
  readonly prompt: string;
}

function requestOf({ nodeId, config, inputs, context, prompt }: RequestParts): ChatRequest {
  const isConversation = config.mode === 'conversation';
  return {
    nodeId,
    executionId: context.executionId,
    step: context.step,
    seed: context.seed,
    profile: textOf(config.profile),
    provider: textOf(config.provider),
    model: textOf(config.model),
    systemPrompt: textOf(inputs.system_prompt) || textOf(config.system_prompt),
    messages: isConversation ? conversation(nodeId, context, prompt) : [{ role: 'user', content: prompt }],
    images: listOf(inputs.rgb),
    imageLabels: listOf(inputs.image_labels).map(textOf),
    imageDetail: textOf(config.image_detail) || 'low',
    imageMime: textOf(config.image_mime) || 'image/png',
    temperature: numberOrUnset(config.temperature),
    maxTokens: numberOrUnset(config.max_tokens),
    stop: listOf(config.stop).map(textOf),
    sampleCount: isConversation ? 1 : Math.max(1, Math.trunc(Number(config.n) || 1)),
  };
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null || value === '') return [];
  return Array.isArray(value) ? value : [value];
}

function numberOrUnset(value: unknown): number | undefined {
  return value === undefined || value === null || value === '' ? undefined : Number(value);
}

function conversation(nodeId: string, context: FiringContext, prompt: string): readonly ChatMessage[] {
  if (!seesBlackboard(context)) {
    throw new StudioError(
      'graph_invalid',
      `node '${nodeId}' keeps a conversation: add a container 'graph_state' with a state 'messages' and grant it, or use single_turn`,
    );
  }
  context.containers.write(blackboard, 'messages', { role: 'user', content: prompt });
  return listOf(context.containers.read(blackboard, 'messages')).flatMap((entry) => {
    if (!isRecord(entry)) return [];
    const role = entry.role === 'assistant' || entry.role === 'system' ? entry.role : 'user';
    return [{ role, content: textOf(entry.content) }];
  });
}

/** The template with its variables: inputs, pose, step, then states of graph_state. Unknown names are an error. */
function rendered(nodeId: string, config: PortValues, inputs: PortValues, context: FiringContext): string {
  const variables = new Map<string, string>([['step', String(context.step)]]);
  for (const [name, value] of Object.entries(inputs)) {
    if (!notVariables.has(name) && value !== null) variables.set(name, textOf(value));
  }
  for (const [name, value] of poseVariables(inputs.pose)) variables.set(name, value);
  const declared = new Set([
    ...configPorts(config.ports).map((port) => port.name),
    'pos',
    'position',
    'heading',
  ]);
  if (configPorts(config.ports).length === 0)
    for (const port of chatNodeManifest.inputPorts) declared.add(port.name);
  const unknown = new Set<string>();
  const text = textOf(config.template).replace(variablePattern, (_all, name: string) => {
    const known = variables.get(name) ?? fromBlackboard(context, name);
    if (known !== undefined) return known ?? `(no ${name})`;
    if (!declared.has(name)) unknown.add(name);
    return `(no ${name})`;
  });
  if (unknown.size === 0) return text;
  throw new StudioError(
    'graph_invalid',
    `node '${nodeId}': the template names ${[...unknown].map((name) => `{${name}}`).join(', ')}, which is neither an input nor a state of graph_state`,
  );
}

/** undefined: no such state; null: the state is empty. */
function fromBlackboard(context: FiringContext, name: string): string | null | undefined {
  if (!seesBlackboard(context)) return undefined;
  try {
    const value = context.containers.read(blackboard, name);
    if (value === null || value === undefined) return null;
    return Array.isArray(value) ? value.map(textOf).join('\n') : textOf(value);
  } catch (thrown) {
    if (thrown instanceof StudioError && thrown.code === 'not_found') return undefined;
    throw thrown;
  }
}

function poseVariables(pose: unknown): readonly (readonly [string, string])[] {
  if (!isRecord(pose)) return [];
  const position = listOf(pose.position)
    .slice(0, 3)
    .map((value) => Number(value).toFixed(2))
    .join(', ');
  const [x = 0, y = 0, z = 0, w = 1] = listOf(pose.orientation).map(Number);
  const yawRadians = Math.atan2(2 * (w * y + x * z), 1 - 2 * (y * y + z * z));
  const headingDegrees = ((((yawRadians * 180) / Math.PI) % 360) + 360) % 360;
  return [
    ['pos', position],
    ['position', position],
    ['heading', headingDegrees.toFixed(1)],
  ];
}
