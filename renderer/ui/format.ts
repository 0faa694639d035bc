// How numbers read: unit, interval and n, always with the same width where it can be kept. Pure; every place that
// shows a number goes through here.
import type { MetricDefinition } from '#contract/nodeset.ts';
import type { Estimate, MetricValue } from '#contract/run.ts';

const NOT_MEASURED = '–';
const thin = '\u202f';

/** One formatter per number of decimals: making one costs far more than using it. */
const formatters = [0, 1, 2, 3, 4].map(
  (decimals) =>
    new Intl.NumberFormat('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
);
const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** 1839 -> "1,839". */
export const formatCount = (value: number): string => grouped.format(value);

/** "1 episode", "2 episodes". */
export const formatPlural = (value: number, singular: string, plural = `${singular}s`): string =>
  `${formatCount(value)} ${value === 1 ? singular : plural}`;

/** A fixed number of decimals (0 to 4), thousands grouped, a real minus sign. */
export function formatDecimal(value: number, decimals: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  const text = (formatters[decimals] ?? grouped).format(value);
  return text.replace('-', '−');
}

/** Decimals for a number that stands alone: three significant digits, at most four decimals. */
export function decimalsOf(value: number): number {
  const size = Math.abs(value);
  if (!Number.isFinite(size) || size === 0 || Number.isInteger(value)) return 0;
  if (size >= 100) return 1;
  if (size >= 10) return 2;
  return size >= 0.01 ? 3 : 4;
}

/** Decimals so that the interval's half-width shows two digits: more would be noise. */
export function decimalsOfInterval(low: number, high: number): number {
  const half = (high - low) / 2;
  if (!(half > 0) || !Number.isFinite(half)) return decimalsOf(low);
  return Math.min(3, Math.max(0, 1 - Math.floor(Math.log10(half))));
}

export interface CellText {
  readonly text: string;
  readonly kind: 'value' | 'not_measured' | 'non_finite';
}

/** A metric of one episode. With its definition, always as many decimals, so that a column lines up. */
export function formatMetricValue(
  value: MetricValue | undefined,
  definition?: Pick<MetricDefinition, 'kind' | 'unit'>,
): CellText {
  if (value === undefined || value === null) return { text: NOT_MEASURED, kind: 'not_measured' };
  if (value === 'nan') return { text: 'NaN', kind: 'non_finite' };
  if (value === 'inf') return { text: '∞', kind: 'non_finite' };
  if (value === '-inf') return { text: '−∞', kind: 'non_finite' };
  const decimals = definition ? decimalsOfMetric(value, definition) : decimalsOf(value);
  return { text: formatDecimal(value, decimals), kind: 'value' };
}

function decimalsOfMetric(value: number, { kind, unit }: Pick<MetricDefinition, 'kind' | 'unit'>): number {
  if (kind === 'mean') return unit === '' ? 3 : 2;
  return Number.isInteger(value) ? 0 : 3;
}

export interface EstimateText {
  readonly value: string;
  /** Empty when there is no interval. */
  readonly interval: string;
  readonly unit: string;
  readonly n: string;
}

/** Rates in per cent, everything else in its own unit. */
export function formatEstimate(estimate: Estimate, definition: MetricDefinition): EstimateText {
  const isRate = definition.kind === 'rate';
  const scale = isRate ? 100 : 1;
  const unit = isRate ? '%' : definition.unit;
  const n = formatCount(estimate.n);
  if (estimate.mean === null) return { value: NOT_MEASURED, interval: '', unit, n };
  const [mean, low, high] = [estimate.mean, estimate.low, estimate.high].map(
    (part) => (part ?? Number.NaN) * scale,
  );
  const hasInterval = estimate.low !== null && estimate.high !== null;
  const decimals = hasInterval
    ? Math.min(isRate ? 1 : 4, decimalsOfInterval(low ?? 0, high ?? 0))
    : Math.min(isRate ? 1 : 4, decimalsOf(mean ?? 0));
  const interval = hasInterval
    ? `${formatDecimal(low ?? 0, decimals)} – ${formatDecimal(high ?? 0, decimals)}`
    : '';
  return { value: formatDecimal(mean ?? 0, decimals), interval, unit, n };
}

/** 350 ms, 12.3 s, 4 min 05 s, 2 h 07 min. */
export function formatDuration(milliseconds: number | null): string {
  if (milliseconds === null) return NOT_MEASURED;
  if (milliseconds < 1000) return `${Math.round(milliseconds)}${thin}ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)}${thin}s`;
  const seconds = Math.round(milliseconds / 1000);
  const pad = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}${thin}min ${pad(seconds % 60)}${thin}s`;
  const minutes = Math.round(milliseconds / 60_000);
  return `${formatCount(Math.floor(minutes / 60))}${thin}h ${pad(minutes % 60)}${thin}min`;
}

/** A remaining time as a range in the coarser unit: "6–8 min". */
export function formatRemaining(range: { readonly low: number; readonly high: number } | null): string {
  if (range === null) return '';
  const [divisor, unit] =
    range.high < 90_000 ? [1000, 's'] : range.high < 5_400_000 ? [60_000, 'min'] : [3_600_000, 'h'];
  const decimals = unit === 'h' ? 1 : 0;
  const [low, high] = [(range.low / divisor).toFixed(decimals), (range.high / divisor).toFixed(decimals)];
  return low === high ? `${low}${thin}${unit}` : `${low}–${high}${thin}${unit}`;
}

/** Episodes per second, minute or hour: the unit that gives a number above 1. */
export function formatRate(perSecond: number | null): string {
  if (perSecond === null || !(perSecond > 0)) return NOT_MEASURED;
  const [value, unit] =
    perSecond >= 1
      ? [perSecond, 's']
      : perSecond * 60 >= 1
        ? [perSecond * 60, 'min']
        : [perSecond * 3600, 'h'];
  return `${formatDecimal(value, value >= 100 ? 0 : 1)} episodes/${unit}`;
}

export function formatBytes(bytes: number | null): string {
  if (bytes === null) return NOT_MEASURED;
  if (bytes < 1024 ** 2) return `${formatDecimal(bytes / 1024, 0)}${thin}KiB`;
  if (bytes < 1024 ** 3) return `${formatDecimal(bytes / 1024 ** 2, 0)}${thin}MiB`;
  return `${formatDecimal(bytes / 1024 ** 3, 1)}${thin}GiB`;
}

/** 2026-11-30 14:05 in the person's own time zone: sorts as it reads. */
export function formatDate(iso: string | null): string {
  const date = iso === null ? null : new Date(iso);
  if (date === null || Number.isNaN(date.getTime())) return NOT_MEASURED;
  const pad = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** 30 Nov 14:05 this year, 2025-11-30 otherwise: for columns that have the whole date elsewhere. */
export function formatShortDate(iso: string, now = new Date()): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return NOT_MEASURED;
  const whole = formatDate(iso);
  if (date.getFullYear() !== now.getFullYear()) return whole.slice(0, 10);
  return `${date.getDate()} ${months[date.getMonth()] ?? ''} ${whole.slice(11)}`;
}

/** Share in per cent without decimals, never 100 % before everything is done. */
export function formatShare(done: number, total: number): string {
  if (total <= 0) return `0${thin}%`;
  const percent = done >= total ? 100 : Math.min(99, Math.floor((done / total) * 100));
  return `${percent}${thin}%`;
}

/** `no_verdict` -> "no verdict". */
export const formatWord = (name: string): string => name.replaceAll('_', ' ');

/** US dollars without the sign: cents for large sums, what matters for small ones. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return '0';
  return dollars >= 10 ? dollars.toFixed(2) : String(Number(dollars.toPrecision(3)));
}
