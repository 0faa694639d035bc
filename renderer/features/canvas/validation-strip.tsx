// What is wrong with the graph, one line each: a click opens the level and selects the node.
import { Check, CircleX, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { Diagnostic } from '#contract/graph.ts';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatPlural } from '../../ui/format.ts';
import { placeOf } from '../../canvas-model/find.ts';
import { levelsOf } from '../../canvas-model/levels.ts';
import { useCanvas } from './canvas-context.tsx';
import type { Validation } from './use-validation.ts';

export function ValidationStrip({ validation }: { readonly validation: Validation }) {
  const { diagnostics, error } = validation;
  const [isOpen, setOpen] = useState(false);
  if (error) return <ErrorCallout title="The graph could not be checked." error={error} />;
  const errors = (diagnostics ?? []).filter(({ severity }) => severity === 'error');
  const warnings = (diagnostics ?? []).filter(({ severity }) => severity === 'warning');
  const isClean = diagnostics !== null && diagnostics.length === 0;
  const first = errors[0] ?? warnings[0];
  const Glyph = errors.length > 0 ? CircleX : warnings.length > 0 ? TriangleAlert : Check;
  const tone = errors.length > 0 ? 'bad' : warnings.length > 0 ? 'warn' : 'good';
  return (
    <section className={`validation ${tone}`} aria-label="Checks of the graph">
      <div className="validation-head">
        <output className="row">
          {diagnostics === null ? null : <Glyph size={14} aria-hidden="true" />}
          <span>
            {diagnostics === null
              ? 'Checking'
              : isClean
                ? 'No errors or warnings'
                : [
                    errors.length > 0 ? formatPlural(errors.length, 'error') : '',
                    warnings.length > 0 ? formatPlural(warnings.length, 'warning') : '',
                  ]
                    .filter(Boolean)
                    .join(', ')}
          </span>
        </output>
        {first && !isOpen ? <Line diagnostic={first} /> : <span className="grow" />}
        {first ? (
          <button
            type="button"
            className="button plain"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Hide' : 'Show all'}
          </button>
        ) : null}
      </div>
      {isOpen ? (
        <ul className="validation-list">
          {[...errors, ...warnings].slice(0, 200).map((diagnostic) => (
            <li
              key={`${diagnostic.rule} ${diagnostic.nodePath} ${diagnostic.edgeId ?? ''} ${diagnostic.message}`}
            >
              <Line diagnostic={diagnostic} withFix />
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}

function Line({
  diagnostic,
  withFix = false,
}: {
  readonly diagnostic: Diagnostic;
  readonly withFix?: boolean;
}) {
  const { editor } = useCanvas();
  const { severity, nodePath, message, fix, edgeId } = diagnostic;
  const show = (): void => {
    const place = placeOf(editor.root, nodePath);
    if (place) return editor.show(place.path, [place.id]);
    const holder = levelsOf(editor.root).find(({ level }) => level.edges.some(({ id }) => id === edgeId));
    const edge = holder?.level.edges.find(({ id }) => id === edgeId);
    if (holder && edge) editor.show(holder.path, [edge.target]);
  };
  return (
    <button type="button" className="validation-line grow" onClick={show} title={`${message} ${fix}`}>
      {withFix ? (
        severity === 'error' ? (
          <CircleX size={13} className="bad" aria-label="Error" />
        ) : (
          <TriangleAlert size={13} className="warn" aria-label="Warning" />
        )
      ) : null}
      <span className={withFix ? '' : 'clip'}>
        {nodePath ? <strong>{nodePath}: </strong> : null}
        {message}
        {withFix && fix ? <span className="muted"> {fix}</span> : null}
      </span>
    </button>
  );
}
