// Nodesets, as far as it exists: where they are listed today.
import { formatAddress, home } from '../../store/address.ts';
import { useStudioState } from '../../store/use-studio.tsx';
import { EmptyState, PageHead } from '../../ui/page.tsx';
import { TextBlock } from '../../ui/text-block.tsx';

export function NodesetsPage() {
  const info = useStudioState((state) => state.info);
  return (
    <>
      <PageHead title="Nodesets" />
      <div className="page-body">
        <EmptyState
          title="Managing nodesets is not built into this window yet"
          actions={
            <a className="button primary" href={formatAddress({ ...home, page: 'evaluate' })}>
              Load what a graph needs, on Evaluate
            </a>
          }
        >
          <p>
            Nodesets are found in{' '}
            {info ? <code>{info.workspace}/nodesets</code> : 'the workspace’s nodesets folder'} and in the
            library that ships with AgentCanvas. Evaluate lists those a graph needs and loads them. All of
            them are listed by:
          </p>
          <TextBlock label="Command" className="plain-block">
            agentcanvas nodesets list
          </TextBlock>
        </EmptyState>
      </div>
    </>
  );
}
