// Replay, as far as it exists: where a run keeps what it recorded.
import { formatAddress, home } from '../../store/address.ts';
import { EmptyState, PageHead } from '../../ui/page.tsx';
import { TextBlock } from '../../ui/text-block.tsx';

export function ReplayPage() {
  return (
    <>
      <PageHead title="Replay" />
      <div className="page-body">
        <EmptyState
          title="Replaying episodes is not built into this window yet"
          actions={
            <a className="button primary" href={formatAddress({ ...home, page: 'history' })}>
              Open a run in History
            </a>
          }
        >
          <p>
            Recorded episodes are kept as plain files: one line per firing in <code>log.jsonl</code>, frames
            in <code>assets</code>. A run’s folder is shown in its configuration view, and by:
          </p>
          <TextBlock label="Command" className="plain-block">
            agentcanvas runs show RUN_ID
          </TextBlock>
        </EmptyState>
      </div>
    </>
  );
}
