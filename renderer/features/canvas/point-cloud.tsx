// A point cloud on a plain 2D canvas: turned by dragging, nearer points lighter. Enough to judge a cloud by eye.
import { useEffect, useMemo, useRef, useState } from 'react';

export interface PointCloudProps {
  /** Little-endian float32, x y z. */
  readonly base64: string;
  readonly count: number;
  readonly shown: number;
}

const width = 190;
const height = 140;

export function PointCloud({ base64, count, shown }: PointCloudProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [turn, setTurn] = useState({ yaw: 0.6, pitch: 0.5 });
  const points = useMemo(() => pointsOf(base64), [base64]);
  useEffect(() => {
    const target = canvas.current;
    const context = target?.getContext('2d');
    if (target && context) draw(context, points, turn, getComputedStyle(target).color);
  }, [points, turn]);
  return (
    <figure className="shown-image">
      <canvas
        ref={canvas}
        width={width}
        height={height}
        className="nodrag nowheel"
        aria-label={`Point cloud of ${count} points`}
        onPointerMove={(event) => {
          if (event.buttons !== 1) return;
          setTurn(({ yaw, pitch }) => ({
            yaw: yaw + event.movementX / 80,
            pitch: pitch + event.movementY / 80,
          }));
        }}
      />
      <figcaption className="faint">
        {count === shown ? `${count} points` : `${shown} of ${count} points`} · drag to turn
      </figcaption>
    </figure>
  );
}

function pointsOf(base64: string): Float32Array {
  const text = atob(base64);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

function draw(
  context: CanvasRenderingContext2D,
  points: Float32Array,
  { yaw, pitch }: { readonly yaw: number; readonly pitch: number },
  colour: string,
): void {
  context.clearRect(0, 0, width, height);
  context.fillStyle = colour;
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  points.forEach((value, index) => {
    const axis = index % 3;
    low[axis] = Math.min(low[axis] ?? value, value);
    high[axis] = Math.max(high[axis] ?? value, value);
  });
  const middle = [0, 1, 2].map((axis) => ((low[axis] ?? 0) + (high[axis] ?? 0)) / 2);
  const span = Math.max(...[0, 1, 2].map((axis) => (high[axis] ?? 0) - (low[axis] ?? 0)), 1e-6);
  const scale = (Math.min(width, height) * 0.8) / span;
  const [sinYaw, cosYaw, sinPitch, cosPitch] = [
    Math.sin(yaw),
    Math.cos(yaw),
    Math.sin(pitch),
    Math.cos(pitch),
  ];
  for (let index = 0; index + 2 < points.length; index += 3) {
    const x = (points[index] ?? 0) - (middle[0] ?? 0);
    const y = (points[index + 1] ?? 0) - (middle[1] ?? 0);
    const z = (points[index + 2] ?? 0) - (middle[2] ?? 0);
    const across = x * cosYaw + z * sinYaw;
    const deep = z * cosYaw - x * sinYaw;
    const up = y * cosPitch - deep * sinPitch;
    context.globalAlpha = 0.35 + 0.6 * Math.max(0, Math.min(1, 0.5 - deep / span));
    context.fillRect(width / 2 + across * scale, height / 2 - up * scale, 1.5, 1.5);
  }
  context.globalAlpha = 1;
}
