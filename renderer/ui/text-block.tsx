// Text as it is, in its own scrolling box that the keyboard can reach.
import type { ReactNode } from 'react';

export interface TextBlockProps {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

const shellWords = /(?:'[^']*'|"[^"]*"|\S)+/g;

/** A command whose words are not broken where it wraps. */
export function CommandText({ command }: { readonly command: string }) {
  const words = command.match(shellWords) ?? [];
  return words.map((word, at) => (
    // Words of one command never change places.
    // oxlint-disable-next-line react/no-array-index-key
    <span key={at} className="shell-word">
      {word}
      {at < words.length - 1 ? ' ' : ''}
    </span>
  ));
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
