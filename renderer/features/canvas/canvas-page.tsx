// Canvas, as far as it exists: how graphs are written and checked today.
import { formatAddress, home } from '../../store/address.ts';
import { useStudioState } from '../../store/use-studio.tsx';
import { EmptyState, PageHead } from '../../ui/page.tsx';
import { TextBlock } from '../../ui/text-block.tsx';

export function CanvasPage() {
  const workspace = useStudioState((state) => state.info?.workspace ?? null);
  const holder = useStudioState((state) => state.guard.holder);
  return (
    <>
      <PageHead title="Canvas" />
      <div className="page-body">
        <EmptyState
          title="Editing graphs is not built into this window yet"
          actions={
            <a className="button primary" href={formatAddress({ ...home, page: 'evaluate' })}>
              Choose a graph to evaluate
            </a>
          }
        >
          <p>
            Graphs are JSON files in{' '}
            {workspace ? <code>{workspace}/graphs</code> : 'the workspace’s graphs folder'}. Edit one in any
            editor; Evaluate shows what is wrong with it, and so does:
          </p>
          <TextBlock label="Command" className="plain-block">
            agentcanvas graphs validate GRAPH.json
          </TextBlock>
          {holder ? (
            <p>
              Play would have to wait now: {holder.label} holds the execution guard.
              {holder.kind === 'eval' ? (
                <>
                  {' '}
                  <a href={formatAddress({ ...home, page: 'evaluate', run: holder.id })}>Open that run</a>
                </>
              ) : null}
            </p>
          ) : null}
        </EmptyState>
      </div>
    </>
  );
}
