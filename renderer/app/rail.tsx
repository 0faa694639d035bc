// The left rail: pages, what runs now, and the state of the line to the engine.
import {
  ChartColumn,
  CircleHelp,
  CirclePlay,
  Columns2,
  History,
  Package,
  Settings,
  Workflow,
  type LucideIcon,
} from 'lucide-react';
import { home, formatAddress, type Address, type Page } from '../store/address.ts';
import { countsOf } from '../store/studio-store.ts';
import { useAddress, useStudioState } from '../store/use-studio.tsx';
import { formatCount, formatShare } from '../ui/format.ts';
import { Tip } from '../ui/tip.tsx';

const items: readonly { readonly page: Page; readonly label: string; readonly icon: LucideIcon }[] = [
  { page: 'evaluate', label: 'Evaluate', icon: ChartColumn },
  { page: 'history', label: 'History', icon: History },
  { page: 'compare', label: 'Compare', icon: Columns2 },
  { page: 'replay', label: 'Replay', icon: CirclePlay },
  { page: 'canvas', label: 'Canvas', icon: Workflow },
  { page: 'nodesets', label: 'Nodesets', icon: Package },
  { page: 'settings', label: 'Settings', icon: Settings },
];

export function Rail() {
  const address = useAddress();
  return (
    <nav className="rail" aria-label="Pages">
      <div className="brand">
        <img src={new URL('./icon.svg', import.meta.url).href} width={18} height={18} alt="" />
        <span>AgentCanvas</span>
      </div>
      {items.map(({ page, label, icon: Icon }) => (
        <Tip key={page} text={label} command={`go.${page}`}>
          <a
            href={formatAddress({ ...home, page })}
            aria-current={address.page === page ? 'page' : undefined}
          >
            <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
            <span>{label}</span>
          </a>
        </Tip>
      ))}
      <HelpLink />
      <div className="foot">
        <Holder />
        <Connection />
      </div>
    </nav>
  );
}

/** In the window the page itself goes there and back: it opens no other ones. */
function HelpLink() {
  const info = useStudioState((state) => state.info);
  if (!info?.docsUrl) return null;
  const elsewhere = info.host === 'electron' ? {} : { target: '_blank', rel: 'noreferrer' };
  return (
    <Tip text="Help" command="help.open">
      <a href={info.docsUrl} {...elsewhere}>
        <CircleHelp size={16} strokeWidth={1.75} aria-hidden="true" />
        <span>Help</span>
      </a>
    </Tip>
  );
}

function Holder() {
  const holder = useStudioState((state) => state.guard.holder);
  const queued = useStudioState((state) => state.queue.length);
  const counts = useStudioState((state) =>
    holder?.kind === 'eval' ? countsOf(state, holder.id) : undefined,
  );
  if (!holder && queued === 0) return null;
  const done = counts ? counts.planned - counts.notRun : 0;
  const total = counts?.planned ?? 0;
  return (
    <a className="holder" href={formatAddress({ ...home, ...placeOf(holder) })}>
      <div className="clip">
        {holder
          ? holder.kind === 'eval'
            ? `Running: ${holder.label}`
            : `Canvas plays ${holder.label}`
          : 'Nothing runs'}
      </div>
      {total > 0 ? (
        <>
          <div className="faint">
            {formatShare(done, total)} of {formatCount(total)}
          </div>
          <div className="thin-bar" aria-hidden="true">
            <span style={{ width: `${total > 0 ? (done / total) * 100 : 0}%` }} />
          </div>
        </>
      ) : null}
      {queued > 0 ? <div className="faint">{formatCount(queued)} in the queue</div> : null}
    </a>
  );
}

/** Where what runs can be seen: the run, or the canvas with the graph that plays. */
function placeOf(
  holder: { readonly kind: 'canvas' | 'eval'; readonly id: string } | null,
): Pick<Address, 'page'> & Partial<Address> {
  if (!holder) return { page: 'history' };
  if (holder.kind === 'eval') return { page: 'evaluate', run: holder.id };
  return { page: 'canvas', graph: holder.id || 'new' };
}

function Connection() {
  const connection = useStudioState((state) => state.connection);
  const isReadOnly = useStudioState((state) => state.info?.readOnly ?? false);
  const isAway = connection.kind === 'retrying';
  const word =
    connection.kind === 'open'
      ? isReadOnly
        ? 'Read-only'
        : 'Connected'
      : connection.kind === 'connecting'
        ? 'Connecting'
        : 'Engine away, retrying';
  return (
    <output className={isAway ? 'connection away' : 'connection'}>
      <span className="dot" aria-hidden="true" />
      <span>{word}</span>
    </output>
  );
}
