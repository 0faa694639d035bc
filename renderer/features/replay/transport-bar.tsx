// Play, step, scrub and speed. Every button names its key.
import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight, Pause, Play } from 'lucide-react';
import { useCommand } from '../../store/use-studio.tsx';
import { formatCount } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { Tip } from '../../ui/tip.tsx';
import { speeds } from './playback.ts';
import type { Player } from './use-playback.ts';

export function TransportBar({ player }: { readonly player: Player }) {
  const { playback, lastStep } = player;
  const { step, isPlaying, speed } = playback;
  const isEmpty = lastStep < 0;
  useCommand('player.toggle', isEmpty ? null : player.toggle);
  useCommand('player.back', isEmpty ? null : () => player.moveBy(-1));
  useCommand('player.forward', isEmpty ? null : () => player.moveBy(1));
  useCommand('player.first', isEmpty ? null : () => player.seek(0));
  useCommand('player.last', isEmpty ? null : () => player.seek(lastStep));
  useCommand('player.slower', () => player.changeSpeed(-1));
  useCommand('player.faster', () => player.changeSpeed(1));
  const digits = String(Math.max(0, lastStep)).length;
  return (
    <section className="transport" aria-label="Playback">
      <IconButton
        label="First step"
        command="player.first"
        icon={ChevronFirst}
        onClick={() => player.seek(0)}
      />
      <IconButton
        label="One step back"
        command="player.back"
        icon={ChevronLeft}
        isDisabled={step <= 0}
        onClick={() => player.moveBy(-1)}
      />
      <Tip text={isPlaying ? 'Pause' : 'Play'} command="player.toggle">
        <button
          type="button"
          className="button primary icon"
          aria-label={isPlaying ? 'Pause' : 'Play'}
          disabled={lastStep <= 0}
          onClick={player.toggle}
        >
          {isPlaying ? <Pause size={15} aria-hidden="true" /> : <Play size={15} aria-hidden="true" />}
        </button>
      </Tip>
      <IconButton
        label="One step forward"
        command="player.forward"
        icon={ChevronRight}
        isDisabled={step >= lastStep}
        onClick={() => player.moveBy(1)}
      />
      <IconButton
        label="Last step"
        command="player.last"
        icon={ChevronLast}
        onClick={() => player.seek(lastStep)}
      />
      <input
        type="range"
        className="scrubber grow"
        aria-label="Step"
        min={0}
        max={Math.max(0, lastStep)}
        value={step}
        disabled={lastStep <= 0}
        onChange={(event) => player.seek(event.target.valueAsNumber)}
      />
      <span className="figures step-count" data-testid="step">
        {String(step).padStart(digits, '\u2007')} / {formatCount(Math.max(0, lastStep))}
      </span>
      <label className="row tight small muted">
        Speed
        <select
          className="select small-select"
          value={speed}
          onChange={(event) => player.setSpeed(Number(event.target.value))}
        >
          {speeds.map((option) => (
            <option key={option} value={option}>
              {option}×
            </option>
          ))}
        </select>
      </label>
    </section>
  );
}
