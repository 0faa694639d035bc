// Plays many episodes side by side, one forward pass of the student per step for all of them. The environment is the
// shipped one; only who chooses the action (student, expert, a mixture) is decided by the caller.
import { createCamera } from '../nodesets/minivln/render.ts';
import { createSession, type Running } from '../nodesets/minivln/session.ts';
import { tokenCount, tokenise } from '../nodesets/minivln/instruction.ts';
import type { EpisodeAddress } from '../nodesets/minivln/splits.ts';
import { startAction, type Student } from './student.ts';

const viewSize = { width: 64, height: 48 } as const;
const viewBytes = viewSize.width * viewSize.height * 3;

export interface Moment {
  readonly running: Running;
  /** What the student would do. */
  readonly proposal: number;
  /** The student's image columns of this view, if its model gives them; valid during the call only. */
  readonly features: Uint8Array | undefined;
}

/** One episode's observer: it decides every action and hears of the end. */
export interface Player {
  choose(moment: Moment): number;
  finish(running: Running): void;
}

export interface LockstepOptions {
  readonly student: Student;
  readonly episodes: readonly EpisodeAddress[];
  readonly playerOf: (running: Running) => Player;
  readonly stepBudget: number;
  /** Gives the student an empty instruction: the ablation. */
  readonly hidesInstruction?: boolean;
  readonly width?: number;
}

interface Slot {
  readonly running: Running;
  readonly player: Player;
  readonly tokens: BigInt64Array;
  previous: number;
  hidden: Float32Array;
}

export async function playInLockstep(options: LockstepOptions): Promise<void> {
  const { student, stepBudget, width = 192 } = options;
  const camera = createCamera(viewSize);
  const waiting = options.episodes.toReversed();
  let slots: Slot[] = [];
  for (;;) {
    while (slots.length < width) {
      const address = waiting.pop();
      if (!address) break;
      slots.push(openSlot(address, options));
    }
    if (slots.length === 0) return;
    const output = await student.act(inputOf(slots, student.hiddenSize, camera));
    const { features } = output;
    const featureBytes = features ? features.length / slots.length : 0;
    slots = slots.filter((slot, row) => {
      const { running, player } = slot;
      const chosen = player.choose({
        running,
        proposal: output.actions[row]!,
        features: features?.subarray(row * featureBytes, (row + 1) * featureBytes),
      });
      running.step(chosen);
      slot.previous = chosen;
      slot.hidden = output.hidden.subarray(row * student.hiddenSize, (row + 1) * student.hiddenSize);
      const goesOn = !running.done && running.steps < stepBudget;
      if (!goesOn) player.finish(running);
      return goesOn;
    });
  }
}

function openSlot(address: EpisodeAddress, { student, playerOf, hidesInstruction }: LockstepOptions): Slot {
  const running = createSession(address).peek();
  const tokens = new BigInt64Array(tokenCount);
  if (!hidesInstruction) tokens.set(tokenise(running.episode.instruction).map(BigInt));
  return {
    running,
    player: playerOf(running),
    tokens,
    previous: startAction,
    hidden: new Float32Array(student.hiddenSize),
  };
}

function inputOf(slots: readonly Slot[], hiddenSize: number, camera: ReturnType<typeof createCamera>) {
  const rgb = new Uint8Array(slots.length * viewBytes);
  const tokens = new BigInt64Array(slots.length * tokenCount);
  const hidden = new Float32Array(slots.length * hiddenSize);
  slots.forEach((slot, row) => {
    const view = camera(slot.running.scene, slot.running.pose).rgb.data;
    if (!(view instanceof Uint8Array)) throw new Error('the camera no longer gives uint8 images');
    rgb.set(view, row * viewBytes);
    tokens.set(slot.tokens, row * tokenCount);
    hidden.set(slot.hidden, row * hiddenSize);
  });
  return { rgb, tokens, previous: BigInt64Array.from(slots, (slot) => BigInt(slot.previous)), hidden };
}
