// Text as it is, in its own scrolling box that the keyboard can reach.
import type { ReactNode } from 'react';

export interface TextBlockProps {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export function TextBlock({ label, className = 'log', children }: TextBlockProps) {
  return (
    // A box that scrolls must be reachable without a mouse.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role
    <pre className={className} tabIndex={0} role="group" aria-label={label}>
      {children}
    </pre>
  );
}
