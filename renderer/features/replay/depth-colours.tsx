// Depth in colours: near is bright yellow, far is dark violet, in steps of even lightness that colour blindness keeps
// apart. A filter of the page does it, so that the grey of the file stays what is measured.
import { formatMetricValue } from '../../ui/format.ts';
import { depthStops } from './depth-stops.ts';

export const depthFilterId = 'replay-depth-colours';

/** Once per page that shows depth. */
export function DepthColours() {
  const table = (channel: 0 | 1 | 2): string => depthStops.map((stop) => stop[channel]).join(' ');
  return (
    <svg className="visually-hidden" aria-hidden="true" focusable="false">
      <filter id={depthFilterId} colorInterpolationFilters="sRGB">
        <feComponentTransfer>
          <feFuncR type="table" tableValues={table(0)} />
          <feFuncG type="table" tableValues={table(1)} />
          <feFuncB type="table" tableValues={table(2)} />
        </feComponentTransfer>
      </filter>
    </svg>
  );
}

export interface DepthLegendProps {
  readonly low: number | null;
  readonly high: number | null;
}

/** What the two ends of the colours stand for in the picture that is shown. */
export function DepthLegend({ low, high }: DepthLegendProps) {
  return (
    <figcaption className="depth-legend small figures">
      <span>near {low === null ? '' : formatMetricValue(low).text}</span>
      <svg className="depth-scale" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        <linearGradient id="depth-scale">
          {depthStops.map(([red, green, blue], at) => (
            <stop
              key={`${red} ${green} ${blue}`}
              offset={at / (depthStops.length - 1)}
              stopColor={`rgb(${Math.round(255 * red)} ${Math.round(255 * green)} ${Math.round(255 * blue)})`}
            />
          ))}
        </linearGradient>
        <rect width={1} height={1} fill="url(#depth-scale)" />
      </svg>
      <span>{high === null ? '' : formatMetricValue(high).text} far</span>
    </figcaption>
  );
}
