// The last lines a nodeset's processes printed, read on while it works. Stays at the end unless somebody scrolled up.
import { useEffect, useRef } from 'react';
import { useStudio } from '../../store/use-studio.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { useLoad } from '../../ui/use-request.ts';

const everyMs = 1000;
const endPx = 24;

export function NodesetLog({ name, isLive }: { readonly name: string; readonly isLive: boolean }) {
  const { client } = useStudio();
  const log = useLoad(`log ${name}`, async (signal) => {
    const { lines } = await client.request('nodesets.log', { name }, signal);
    return lines;
  });
  const { reload } = log;
  useEffect(() => {
    // Once more after the end: the last lines say why.
    if (!isLive) return reload();
    const timer = setInterval(() => document.hidden || reload(), everyMs);
    return () => clearInterval(timer);
  }, [isLive, reload]);
  const text = (log.value ?? []).join('\n');
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [text]);
  return (
    <section className="stack" aria-label="Log">
      <div className="row spread">
        <h3>Log</h3>
        {text === '' ? null : <CopyButton text={text} label="Copy log" />}
      </div>
      {log.error ? <ErrorCallout title="The log could not be read." error={log.error} /> : null}
      <pre
        ref={box}
        className="log nodeset-log"
        // A box that scrolls must be reachable without a mouse.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
        role="group"
        aria-label="Log"
        onScroll={({ currentTarget: element }) => {
          isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < endPx;
        }}
      >
        {text === '' ? 'Nothing was printed yet. Load the nodeset to see what it says.' : text}
      </pre>
    </section>
  );
}
