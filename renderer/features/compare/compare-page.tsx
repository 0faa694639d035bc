// Compare, as far as it exists: which runs were chosen, and what can be done with them today.
import { formatAddress, home } from '../../store/address.ts';
import { useAddress } from '../../store/use-studio.tsx';
import { EmptyState, PageHead } from '../../ui/page.tsx';
import { TextBlock } from '../../ui/text-block.tsx';

export function ComparePage() {
  const { runs } = useAddress();
  const chosen = runs.length > 0 ? runs : ['RUN_ID'];
  return (
    <>
      <PageHead title="Compare" />
      <div className="page-body">
        <EmptyState
          title="Comparing runs is not built into this window yet"
          actions={
            <a className="button primary" href={formatAddress({ ...home, page: 'history' })}>
              Choose runs in History
            </a>
          }
        >
          {runs.length > 0 ? (
            <p>
              Chosen, baseline first:{' '}
              {runs.map((run, at) => (
                <span key={run}>
                  {at > 0 ? ', ' : ''}
                  <a href={formatAddress({ ...home, page: 'history', run })}>{run}</a>
                </span>
              ))}
            </p>
          ) : null}
          <p>Every run’s episodes can be exported and joined on episode and repeat in your own tools:</p>
          <TextBlock label="Command" className="plain-block">
            {chosen.map((run) => `agentcanvas runs export ${run} --format csv`).join('\n')}
          </TextBlock>
        </EmptyState>
      </div>
    </>
  );
}
