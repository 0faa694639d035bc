// The frame every page has: a head with title and actions, and what stands there before and instead of content.
import type { ReactNode } from 'react';

export interface PageHeadProps {
  readonly title: ReactNode;
  readonly sub?: ReactNode;
  readonly children?: ReactNode;
}

export function PageHead({ title, sub, children }: PageHeadProps) {
  return (
    <header className="page-head">
      <div className="title grow">
        <h1 className="clip">{title}</h1>
        {sub ? <div className="small muted clip">{sub}</div> : null}
      </div>
      {children}
    </header>
  );
}

export interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

export function EmptyState({ title, children, actions }: EmptyStateProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
      {actions ? <div className="row wrap">{actions}</div> : null}
    </div>
  );
}

/** Grey lines in the place of what is on its way; they appear only after 200 ms. */
export function Skeleton({ lines, label }: { readonly lines: number; readonly label: string }) {
  return (
    <output className="stack" aria-label={label}>
      {Array.from({ length: lines }, (_unused, at) => (
        <div className="skeleton" key={at} style={{ width: `${90 - ((at * 23) % 45)}%` }} />
      ))}
    </output>
  );
}
