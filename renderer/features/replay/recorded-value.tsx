// A recorded value as people read it: pictures as pictures, long text in a box, numbers as they are.
import { useState } from 'react';
import type { RecordedValue } from '#contract/replay.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatBytes, formatCount, formatMetricValue } from '../../ui/format.ts';
import { TextBlock } from '../../ui/text-block.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { assetUrl } from '../../ui/asset-url.ts';

const shortText = 80;

export function RecordedValueView({
  label,
  value,
}: {
  readonly label: string;
  readonly value: RecordedValue;
}) {
  switch (value.kind) {
    case 'image':
      return (
        <figure className="value-image">
          <img
            src={assetUrl(value.asset.address)}
            alt={`${label}, ${value.width} by ${value.height}`}
            className={value.width < 200 ? 'pixels' : undefined}
          />
          <figcaption className="small faint">
            {value.width} × {value.height}
            {value.isDepth && value.low !== null && value.high !== null
              ? `, depth ${value.low.toFixed(2)} to ${value.high.toFixed(2)} m`
              : ''}
          </figcaption>
        </figure>
      );
    case 'tensor':
      return (
        <span className="figures words">
          <span className="faint">
            {value.dtype} [{value.shape.join(' × ')}]
          </span>{' '}
          {value.preview.map((item) => formatMetricValue(item).text).join(', ')}
          {value.asset ? ` … (${formatBytes(value.asset.bytes)})` : ''}
        </span>
      );
    case 'number':
      return <span className="figures">{formatMetricValue(value.value).text}</span>;
    case 'flag':
      return <span>{value.value ? 'true' : 'false'}</span>;
    case 'empty':
      return <span className="faint">nothing</span>;
    case 'text':
    case 'json':
      return <LongText label={label} value={value} />;
  }
}

/** One line for a folded firing. */
export function shortValue(value: RecordedValue): string {
  switch (value.kind) {
    case 'image':
      return `${value.isDepth ? 'depth' : 'image'} ${value.width} × ${value.height}`;
    case 'tensor':
      return `${value.dtype} [${value.shape.join(' × ')}]`;
    case 'number':
      return formatMetricValue(value.value).text;
    case 'flag':
      return value.value ? 'true' : 'false';
    case 'empty':
      return 'nothing';
    case 'text':
    case 'json':
      return value.text.length > shortText ? `${value.text.slice(0, shortText)}…` : value.text;
  }
}

type WrittenValue = Extract<RecordedValue, { readonly kind: 'text' | 'json' }>;

function LongText({ label, value }: { readonly label: string; readonly value: WrittenValue }) {
  const [isWhole, setWhole] = useState(false);
  const address = isWhole ? (value.asset?.address ?? null) : null;
  const whole = useLoad(address, async (signal) => {
    const reply = await fetch(assetUrl(address ?? ''), { signal });
    if (!reply.ok) throw new Error(`The recorded text did not load (status ${reply.status}).`);
    return reply.text();
  });
  const text = whole.value ?? value.text;
  if (text.length <= shortText && !text.includes('\n')) return <span className="words">{text}</span>;
  const isClipped = value.asset !== null && whole.value === null;
  return (
    <div className="value-text">
      <TextBlock label={label} className="log">
        {isClipped ? `${text}…` : text}
      </TextBlock>
      <div className="row tight">
        {isClipped ? (
          <button type="button" className="link small" disabled={isWhole} onClick={() => setWhole(true)}>
            Show all {formatCount(value.length)} characters
          </button>
        ) : null}
        <span className="grow" />
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      {whole.error ? <ErrorCallout error={whole.error} /> : null}
    </div>
  );
}
