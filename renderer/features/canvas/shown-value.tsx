// One value as it is drawn anywhere: in viewers, on wires, in the inspector.
import type { DrawnValue } from '../../canvas-model/drawn-value.ts';
import { assetUrl } from '../../ui/asset-url.ts';
import { PointCloud } from './point-cloud.tsx';

export function ShownValueView({ value, label }: { readonly value: DrawnValue; readonly label: string }) {
  switch (value.kind) {
    case 'image':
      return (
        <figure className="shown-image">
          <img
            src={`data:${value.mimeType};base64,${value.base64}`}
            alt={`${label}, ${value.note}`}
            width={value.width}
            height={value.height}
          />
          <figcaption className="faint">{value.note}</figcaption>
        </figure>
      );
    case 'picture':
      return (
        <figure className="shown-image">
          <img
            src={assetUrl(value.address)}
            alt={`${label}, ${value.note}`}
            width={value.width}
            height={value.height}
          />
          <figcaption className="faint">{value.note}</figcaption>
        </figure>
      );
    case 'text':
      return (
        <div className="shown-text">
          {value.text}
          {value.isCut ? <span className="faint"> … cut here</span> : null}
        </div>
      );
    case 'number':
      return (
        <div className="shown-number">
          {typeof value.value === 'number' ? String(value.value) : (value.value ?? 'not measured')}
        </div>
      );
    case 'flag':
      return <div className="shown-number">{value.value ? 'true' : 'false'}</div>;
    case 'empty':
      return <div className="faint">empty</div>;
    case 'table':
      return (
        <dl className="facts small">
          {value.rows.map(({ name, value: shown }) => (
            <div className="facts-row" key={name}>
              <dt>{name}</dt>
              <dd className="number">{shown}</dd>
            </div>
          ))}
        </dl>
      );
    case 'pose':
      return (
        <div className="shown-number">{value.position.map((number) => number.toFixed(2)).join(', ')} m</div>
      );
    case 'points':
      return <PointCloud base64={value.base64} count={value.count} shown={value.shown} />;
  }
}
