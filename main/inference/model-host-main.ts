// The host program of one model file: `model-host`, started by the engine. It answers open, bind and infer over the host
// protocol, so that a crash or a hang in native code is the end of this process and of nothing else.
import { StudioError } from '../base/errors.ts';
import { runHostServer } from '../process/host-server.ts';
import { ModelSession, type Columns, type SessionChoice } from './host/model-session.ts';
import type { BindingPlan } from './onnx/plan.ts';

let session: ModelSession | undefined;

await runHostServer({ handle: (method, params) => answer(method, params) });

function answer(method: string, params: unknown): unknown {
  switch (method) {
    case 'open':
      return open(params as SessionChoice);
    case 'bind':
      return opened().bind((params as { readonly plan: BindingPlan }).plan);
    case 'infer': {
      const { binding, count, columns } = params as InferParams;
      return opened().infer(binding, columns, count);
    }
    case 'ping':
    case 'shutdown':
      return {};
    default:
      throw new StudioError('unsupported', `the model host has no method "${method}"`);
  }
}

interface InferParams {
  readonly binding: number;
  readonly count: number;
  readonly columns: Columns;
}

async function open(choice: SessionChoice): Promise<unknown> {
  session = await ModelSession.open(choice);
  return session.facts;
}

function opened(): ModelSession {
  if (!session) throw new StudioError('protocol_error', 'no model is open in this host');
  return session;
}
