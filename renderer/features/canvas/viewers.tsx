// What viewers show: the latest image or text, every line of a log, the path walked so far.
import { useEffect, useMemo, useRef, type ReactNode } from 'react';
import type { DrawnValue } from '../../canvas-model/drawn-value.ts';
import type { ViewerContent, ViewerEntry } from './firing-source.ts';
import { ShownValueView } from './shown-value.tsx';

export interface ViewerBodyProps {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly content: ViewerContent | undefined;
}

export function ViewerBody({ type, config, content }: ViewerBodyProps) {
  const last = content?.entries.at(-1);
  if (!content || !last) return <div className="viewer-body faint">Nothing yet</div>;
  switch (type) {
    case 'textScroll':
    case 'actionLog':
      return <LogBody content={content} />;
    case 'trajectoryViewer':
      return (
        <Trajectory content={content} axes={typeof config['axes'] === 'string' ? config['axes'] : 'auto'} />
      );
    default:
      return (
        <div
          className="viewer-body viewer-grid"
          style={{ gridTemplateColumns: `repeat(${columnsOf(config)}, minmax(0, 1fr))` }}
        >
          {last.fields.map(({ port, value }) => (
            <div key={port}>
              {last.fields.length > 1 ? <div className="faint">{port}</div> : null}
              <ShownValueView value={value} label={port} />
            </div>
          ))}
        </div>
      );
  }
}

/** Image viewers say how many pictures stand side by side. */
function columnsOf(config: Readonly<Record<string, unknown>>): number {
  const columns = Number(config['cols'] ?? 1);
  return Number.isInteger(columns) && columns >= 1 && columns <= 4 ? columns : 1;
}

const shownLines = 200;

function LogBody({ content }: { readonly content: ViewerContent }) {
  const box = useRef<HTMLOListElement>(null);
  const follows = useRef(true);
  const { entries, dropped } = content;
  const lines = entries.slice(-shownLines);
  const hidden = dropped + entries.length - lines.length;
  useEffect(() => {
    const target = box.current;
    if (target && follows.current) target.scrollTop = target.scrollHeight;
  }, [content]);
  return (
    <ol
      ref={box}
      className="viewer-body log-lines nowheel nodrag"
      onScroll={({ currentTarget }) => {
        follows.current =
          currentTarget.scrollHeight - currentTarget.scrollTop - currentTarget.clientHeight < 8;
      }}
    >
      {hidden > 0 ? <li className="faint">{hidden} earlier lines</li> : null}
      {lines.map((entry, index) => (
        <li key={`${content.version - lines.length + index}`}>
          <span className="faint">{entry.step}</span> {lineOf(entry)}
        </li>
      ))}
    </ol>
  );
}

function lineOf({ fields }: ViewerEntry): ReactNode {
  return fields.map(({ value }) => textOf(value)).join(' · ');
}

function textOf(value: DrawnValue): string {
  switch (value.kind) {
    case 'text':
      return value.text;
    case 'number':
      return String(value.value);
    case 'flag':
      return String(value.value);
    case 'table':
      return value.rows.map(({ name, value: shown }) => `${name} ${shown}`).join(', ');
    case 'pose':
      return value.position.map((number) => number.toFixed(2)).join(', ');
    case 'image':
    case 'picture':
      return `image ${value.note}`;
    case 'points':
      return `${value.count} points`;
    case 'empty':
      return 'empty';
  }
}

const size = 150;
const margin = 10;

/** Seen along one axis: the one the viewer names, else the one along which the least happens. */
function Trajectory({ content, axes }: { readonly content: ViewerContent; readonly axes: string }) {
  const paths = useMemo(() => {
    const positions = (['pose', 'gt_pose'] as const).map((port) => positionsOf(content.entries, port));
    const [across, along] = axesOf(axes, positions.flat());
    return positions.map((list) =>
      list.map((position): Point => ({ x: position[across] ?? 0, y: position[along] ?? 0 })),
    );
  }, [content, axes]);
  const all = paths.flat();
  if (all.length === 0) return <div className="viewer-body faint">No poses yet</div>;
  const low = { x: Math.min(...all.map(({ x }) => x)), y: Math.min(...all.map(({ y }) => y)) };
  const high = { x: Math.max(...all.map(({ x }) => x)), y: Math.max(...all.map(({ y }) => y)) };
  const scale = (size - 2 * margin) / Math.max(high.x - low.x, high.y - low.y, 0.5);
  const at = ({ x, y }: Point): string =>
    `${(margin + (x - low.x) * scale).toFixed(1)},${(margin + (y - low.y) * scale).toFixed(1)}`;
  const [own = [], truth = []] = paths;
  const here = own.at(-1);
  return (
    <figure className="viewer-body shown-image">
      <svg
        viewBox={`0 0 ${size} ${size}`}
        role="img"
        aria-label={`Path of ${own.length} poses seen from above`}
      >
        {truth.length > 0 ? <polyline className="path truth" points={truth.map(at).join(' ')} /> : null}
        <polyline className="path" points={own.map(at).join(' ')} />
        {here ? (
          <circle className="path-end" r={3} cx={at(here).split(',')[0]} cy={at(here).split(',')[1]} />
        ) : null}
      </svg>
      <figcaption className="faint">
        {own.length} poses · {(high.x - low.x).toFixed(1)} × {(high.y - low.y).toFixed(1)} m
      </figcaption>
    </figure>
  );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function positionsOf(entries: readonly ViewerEntry[], port: string): (readonly number[])[] {
  return entries.flatMap(({ fields }) => {
    const value = fields.find((field) => field.port === port)?.value;
    return value?.kind === 'pose' ? [value.position] : [];
  });
}

const namedAxes: Readonly<Record<string, readonly [number, number]>> = { XZ: [0, 2], XY: [0, 1], YZ: [1, 2] };

function axesOf(name: string, positions: readonly (readonly number[])[]): readonly [number, number] {
  const named = namedAxes[name];
  if (named) return named;
  const extents = [0, 1, 2].map((axis) => {
    const values = positions.map((position) => position[axis] ?? 0);
    return { axis, extent: Math.max(...values, 0) - Math.min(...values, 0) };
  });
  const flattest = extents.toSorted((one, other) => one.extent - other.extent)[0]?.axis ?? 2;
  return flattest === 0 ? [1, 2] : flattest === 1 ? [0, 2] : [0, 1];
}
