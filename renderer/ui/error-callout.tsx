// A failure, shown where the thing would have stood: what happened, what to do, the code, and everything to copy.
import { CircleX, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ErrorInfo } from '#contract/error.ts';
import { CopyButton } from './copy-button.tsx';

export interface ErrorCalloutProps {
  /** What was tried, as a short sentence: "The graphs could not be listed." */
  readonly title?: string;
  readonly error: Pick<ErrorInfo, 'code' | 'message' | 'scope' | 'details'>;
  readonly children?: ReactNode;
}

export function ErrorCallout({ title, error, children }: ErrorCalloutProps) {
  const facts = { code: error.code, message: error.message, scope: error.scope, details: error.details };
  const hasFacts = Object.keys(error.details).length > 0 || Object.keys(error.scope).length > 0;
  return (
    <div className="callout bad" role="alert">
      <CircleX size={16} aria-hidden="true" />
      <div className="body stack">
        <div>
          {title ? <strong>{title} </strong> : null}
          <span>{error.message}</span> <code className="faint">{error.code}</code>
        </div>
        {hasFacts ? (
          <details>
            <summary>Details</summary>
            <pre className="facts-text">{JSON.stringify(facts, null, 2)}</pre>
          </details>
        ) : null}
        {children ? <div className="row wrap">{children}</div> : null}
      </div>
      <CopyButton text={JSON.stringify(facts, null, 2)} label="Copy error" />
    </div>
  );
}

export function Warning({ children }: { readonly children: ReactNode }) {
  return (
    <div className="callout warn">
      <TriangleAlert size={16} aria-hidden="true" />
      <div className="body">{children}</div>
    </div>
  );
}
