// Which commands can act now. The part of the page that is in front registers last and wins.
import type { CommandId } from '../app/commands.ts';

export interface CommandHandler {
  readonly run: () => void;
  /** Shown instead of the command's own title, for example with the name of what it acts on. */
  readonly title?: string;
}

export class CommandRegistry {
  readonly #handlers = new Map<CommandId, CommandHandler[]>();

  register(id: CommandId, handler: CommandHandler): () => void {
    this.#handlers.set(id, [...(this.#handlers.get(id) ?? []), handler]);
    return () => {
      this.#handlers.set(
        id,
        (this.#handlers.get(id) ?? []).filter((other) => other !== handler),
      );
    };
  }

  get(id: CommandId): CommandHandler | undefined {
    return this.#handlers.get(id)?.at(-1);
  }

  /** True when something acted. */
  run(id: CommandId): boolean {
    const handler = this.get(id);
    handler?.run();
    return handler !== undefined;
  }
}
