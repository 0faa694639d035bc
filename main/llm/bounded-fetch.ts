// fetch for answers of a bounded size: an endpoint that never stops sending does not fill the memory. Redirects are
// refused, because they would carry the key elsewhere.
import { StudioError } from '../base/errors.ts';

export const largestReplyBytes = 16 * 2 ** 20;

export const boundedFetch: typeof globalThis.fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'error' });
  if (!response.body) return response;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes <= largestReplyBytes) controller.enqueue(chunk);
        else controller.error(tooLarge());
      },
    }),
  );
  return new Response(counted, response);
};

export function tooLarge(): StudioError {
  return new StudioError(
    'remote_error',
    `the reply is larger than ${largestReplyBytes / 2 ** 20} MB; set max_tokens, or look at what the endpoint sends`,
  );
}
