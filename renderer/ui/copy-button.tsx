// Copies text and says that it did.
import { Check, Copy, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Tip } from './tip.tsx';

type CopyState = 'idle' | 'copied' | 'failed';
const shownMs = 1500;

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // No clipboard without permission or focus: the button says so.
  }
}

export function CopyButton({
  text,
  label,
  withLabel = false,
}: {
  readonly text: string;
  readonly label: string;
  readonly withLabel?: boolean;
}) {
  const [state, setState] = useState<CopyState>('idle');
  useEffect(() => {
    if (state === 'idle') return undefined;
    const timer = setTimeout(() => setState('idle'), shownMs);
    return () => clearTimeout(timer);
  }, [state]);
  const Icon = state === 'copied' ? Check : state === 'failed' ? X : Copy;
  const said = state === 'copied' ? 'Copied' : state === 'failed' ? 'The clipboard is not available' : label;
  const copy = async (): Promise<void> => setState((await copyText(text)) ? 'copied' : 'failed');
  return (
    <Tip text={said}>
      <button
        type="button"
        className={withLabel ? 'button' : 'button plain icon'}
        aria-label={label}
        onClick={() => void copy()}
      >
        <Icon size={14} aria-hidden="true" />
        {withLabel ? <span>{state === 'idle' ? label : said}</span> : null}
        <output className="visually-hidden">{state === 'idle' ? '' : said}</output>
      </button>
    </Tip>
  );
}
