// What is asked, in one form for every provider: from a chat node's request or from OpenAI's messages, to the messages
// of the AI SDK, and to a text that is equal for equal requests (images by their hash).
import { encodePng } from '../base/png.ts';
import { StudioError } from '../base/errors.ts';
import { sha256 } from '../base/stable-hash.ts';
import { Tensor } from '../base/tensor.ts';
import type { ChatRequest } from '../graph/ports.ts';

export type PromptPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly base64: string; readonly mime: string; readonly detail: string };

export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly PromptPart[];
}

const text = (content: string): PromptPart => ({ kind: 'text', text: content });

/** The images belong to the last message, each after its label. */
export function promptOfNode(request: ChatRequest): readonly PromptMessage[] {
  const { systemPrompt, messages, images, imageLabels, imageDetail, imageMime } = request;
  const system: readonly PromptMessage[] =
    systemPrompt === '' ? [] : [{ role: 'system', parts: [text(systemPrompt)] }];
  const pictures = images.flatMap((image, place): readonly PromptPart[] => {
    const label = imageLabels[place] ?? '';
    const picture = { kind: 'image' as const, ...pictureOf(image, imageMime), detail: imageDetail };
    return label === '' ? [picture] : [text(label), picture];
  });
  return [
    ...system,
    ...messages.map(({ role, content }, place) => ({
      role,
      parts: [text(content), ...(place === messages.length - 1 ? pictures : [])],
    })),
  ];
}

/** Base64 text, or an array (height, width, 1, 3 or 4) of bytes, which becomes a PNG. */
function pictureOf(image: unknown, statedMime: string): { readonly base64: string; readonly mime: string } {
  if (typeof image === 'string') return base64Picture(image, statedMime);
  const tensor = tensorOf(image);
  const [height = 0, width = 0, channels = 1] = tensor?.shape ?? [];
  const isDrawable = tensor?.dtype === 'uint8' && height > 0 && width > 0;
  if (!tensor || !isDrawable || (channels !== 1 && channels !== 3 && channels !== 4))
    throw new StudioError(
      'invalid_input',
      'an image must be base64 text or an array of bytes (height, width, 3)',
    );
  const png = encodePng({ width, height, channels, pixels: tensor.bytes });
  return { base64: png.toString('base64'), mime: 'image/png' };
}

/** By shape, not by class: a nodeset may carry a copy of the class. */
function tensorOf(value: unknown): Pick<Tensor, 'dtype' | 'shape' | 'bytes'> | null {
  if (value instanceof Tensor) return value;
  if (typeof value !== 'object' || value === null) return null;
  return 'dtype' in value && 'shape' in value && 'bytes' in value ? (value as Tensor) : null;
}

const signatures: readonly (readonly [start: string, mime: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** What the bytes say goes before what the node says: endpoints refuse a PNG that is called a JPEG. */
function base64Picture(base64OrAddress: string, statedMime: string): { base64: string; mime: string } {
  const address = /^data:([\w/+.-]+);base64,(.*)$/s.exec(base64OrAddress);
  const base64 = address?.[2] ?? base64OrAddress;
  const known = signatures.find(([start]) => base64.startsWith(start));
  return { base64, mime: known?.[1] ?? address?.[1] ?? statedMime };
}

/** OpenAI's messages, images as `image_url` parts with data addresses. Throws `invalid_input`. */
export function promptOfMessages(messages: readonly unknown[]): readonly PromptMessage[] {
  return messages.map((message, place) => {
    if (!isRecord(message)) throw malformed(place, 'is no object');
    const role = message['role'];
    if (role !== 'system' && role !== 'user' && role !== 'assistant')
      throw malformed(place, 'must have the role system, user or assistant');
    const { content } = message;
    if (typeof content === 'string') return { role, parts: [text(content)] };
    if (!Array.isArray(content)) throw malformed(place, 'must have content: a text or a list of parts');
    return { role, parts: content.map((part) => partOf(part, place)) };
  });
}

function partOf(part: unknown, place: number): PromptPart {
  if (isRecord(part) && part['type'] === 'text' && typeof part['text'] === 'string')
    return text(part['text']);
  const image = isRecord(part) && part['type'] === 'image_url' ? part['image_url'] : undefined;
  const url = isRecord(image) ? image['url'] : image;
  if (typeof url !== 'string' || !url.startsWith('data:'))
    throw malformed(place, 'may have parts of text and of image_url with a data: address only');
  const detail = isRecord(image) && typeof image['detail'] === 'string' ? image['detail'] : 'low';
  return { kind: 'image', ...base64Picture(url, 'image/png'), detail };
}

function malformed(place: number, what: string): StudioError {
  return new StudioError('invalid_input', `message ${place} of a chat call ${what}`);
}

/** For addresses of recorded replies. */
export function canonicalPrompt(prompt: readonly PromptMessage[]): unknown {
  return prompt.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) =>
      part.kind === 'text' ? part.text : { image: sha256(part.base64), mime: part.mime, detail: part.detail },
    ),
  }));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
