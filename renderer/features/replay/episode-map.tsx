// The top-down map: rooms and obstacles, where it should go, where it went and where it stands at the current step.
import type { RecordedMap } from '#contract/replay.ts';
import { frameOf, pointsOf, walked } from './map-view.ts';

export function EpisodeMap({ map, step }: { readonly map: RecordedMap; readonly step: number }) {
  const frame = frameOf(map);
  if (!frame) return <p className="faint small">No place was recorded.</p>;
  const { left, top, width, height, unit } = frame;
  const done = walked(map.path, step);
  const here = done.at(-1) ?? map.path[0];
  const distance =
    here && map.goal ? Math.hypot(here.x - (map.goal[0] ?? 0), here.y - (map.goal[1] ?? 0)) : null;
  return (
    <figure className="map">
      <svg
        viewBox={`${left} ${top} ${width} ${height}`}
        role="img"
        aria-label={`Map at step ${step}${distance === null ? '' : `, ${distance.toFixed(2)} m from the goal in a straight line`}`}
      >
        {map.rooms.map((room) => (
          <Box
            key={`${room.name} ${room.box.join(' ')}`}
            box={room.box}
            name={room.name}
            className="map-room"
          />
        ))}
        {map.obstacles.map((item) => (
          <Box
            key={`${item.name} ${item.box.join(' ')}`}
            box={item.box}
            name={item.name}
            className="map-thing"
          />
        ))}
        <polyline className="map-reference" points={pointsOf(map.referencePath.map(pair))} />
        <polyline className="map-rest" points={pointsOf(map.path.map(({ x, y }) => [x, y]))} />
        <polyline className="map-path" points={pointsOf(done.map(({ x, y }) => [x, y]))} />
        {map.start ? (
          <circle className="map-start" cx={map.start[0]} cy={-(map.start[1] ?? 0)} r={unit * 1.4} />
        ) : null}
        {map.goal ? <Goal point={map.goal} unit={unit} /> : null}
        {here ? (
          <g
            transform={`translate(${here.x} ${-here.y}) rotate(${here.heading === null ? 0 : (-here.heading * 180) / Math.PI})`}
          >
            {here.heading === null ? (
              <circle className="map-agent" r={unit * 2} />
            ) : (
              <path
                className="map-agent"
                d={`M ${unit * 3.2} 0 L ${-unit * 2} ${unit * 2} L ${-unit} 0 L ${-unit * 2} ${-unit * 2} Z`}
              />
            )}
          </g>
        ) : null}
      </svg>
      <figcaption className="row wrap small muted">
        <span className="map-key path">path</span>
        {map.referencePath.length > 0 ? <span className="map-key reference">reference</span> : null}
        {map.goal ? <span className="map-key goal">goal</span> : null}
        <span className="grow" />
        {distance === null ? null : (
          <span className="figures">{distance.toFixed(2)} m to goal, straight</span>
        )}
      </figcaption>
    </figure>
  );
}

const pair = (point: readonly number[]): [number, number] => [point[0] ?? 0, point[1] ?? 0];

interface BoxProps {
  readonly box: readonly number[];
  readonly name: string;
  readonly className: string;
}

function Box({ box: [x0 = 0, y0 = 0, x1 = 0, y1 = 0], name, className }: BoxProps) {
  return (
    <rect className={className} x={x0} y={-y1} width={Math.max(0, x1 - x0)} height={Math.max(0, y1 - y0)}>
      {name === '' ? null : <title>{name}</title>}
    </rect>
  );
}

/** A ring with a cross, so that it is not told by colour alone. */
function Goal({ point: [x = 0, y = 0], unit }: { readonly point: readonly number[]; readonly unit: number }) {
  const r = unit * 2.4;
  return (
    <g className="map-goal" transform={`translate(${x} ${-y})`}>
      <circle r={r} />
      <path d={`M ${-r} 0 H ${r} M 0 ${-r} V ${r}`} />
    </g>
  );
}
