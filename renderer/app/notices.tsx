// What a person should know that belongs to no action of theirs. Stays until dismissed; nothing is lost by waiting.
import { CircleX, Info, TriangleAlert, X } from 'lucide-react';
import { formatAddress, home } from '../store/address.ts';
import { useStudioState } from '../store/use-studio.tsx';
import { Recovery } from './recovery.tsx';

const kinds = {
  info: { icon: Info, tone: '' },
  warning: { icon: TriangleAlert, tone: 'warn' },
  error: { icon: CircleX, tone: 'bad' },
} as const;

export function Notices() {
  const notices = useStudioState((state) => state.notices);
  const dismiss = useStudioState((state) => state.dismissNotice);
  return (
    <section className="notices" aria-label="Notices" aria-live="polite">
      <Recovery />
      {notices.map((notice) => {
        const { icon: Icon, tone } = kinds[notice.level];
        return (
          <div key={notice.id} className={`callout ${tone}`}>
            <Icon size={16} aria-hidden="true" />
            <div className="body">
              {notice.message}{' '}
              {notice.runId ? (
                <a href={formatAddress({ ...home, page: 'history', run: notice.runId })}>Open the run</a>
              ) : null}
            </div>
            <button
              type="button"
              className="button plain icon"
              aria-label="Dismiss notice"
              onClick={() => dismiss(notice.id)}
            >
              <X size={14} aria-hidden="true" />
            </button>
          </div>
        );
      })}
    </section>
  );
}
