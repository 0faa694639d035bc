// State containers as a node in a host sees them: every access asks the engine on behalf of the call being served.
// What the graph does not grant is refused here already, and again by the engine.
import { StudioError } from '../../base/errors.ts';
import type { GrantedContainers } from '../author/agentcanvas.ts';

/** The way back to the engine, open as long as the call it belongs to. */
export interface EngineQuestions {
  ask(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown>;
}

export class AskedContainers implements GrantedContainers {
  readonly granted: readonly string[];
  readonly #nodeId: string;
  /** Of the firing that is open; set by its beginning. */
  call: EngineQuestions | undefined;

  constructor(nodeId: string, granted: readonly string[]) {
    this.#nodeId = nodeId;
    this.granted = granted;
  }

  async read(container: string, state: string, key?: string): Promise<unknown> {
    const answer = await this.#request('container.read', container, { state, key });
    return answer !== null && typeof answer === 'object' && 'value' in answer ? answer.value : undefined;
  }

  async write(container: string, state: string, value: unknown, key?: string): Promise<void> {
    await this.#request('container.write', container, { state, key, value });
  }

  async evict(container: string, state: string, key: string): Promise<void> {
    await this.#request('container.evict', container, { state, key });
  }

  async #request(
    method: string,
    container: string,
    rest: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    if (!this.granted.includes(container)) {
      const known = this.granted.join(', ') || 'none';
      throw new StudioError(
        'not_found',
        `node "${this.#nodeId}" has no grant for container "${container}" (granted: ${known}); add the grant in the graph`,
      );
    }
    if (!this.call) throw new StudioError('internal', 'containers are reachable only while the node fires');
    return await this.call.ask(method, { container, ...rest });
  }
}
