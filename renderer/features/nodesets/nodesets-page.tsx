// Nodesets: everything that is found or attached, with what it needs and what runs of it; and the doctor.
import { Tabs } from '@base-ui/react/tabs';
import { useCallback, useMemo, useState } from 'react';
import type { NodesetSummary } from '#contract/nodeset.ts';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { DataGrid } from '../../ui/data-grid.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatPlural } from '../../ui/format.ts';
import type { GridSort } from '../../ui/grid-types.ts';
import { nextSort } from '../../ui/next-sort.ts';
import { EmptyState, PageHead, Skeleton } from '../../ui/page.tsx';
import { recall, remember } from '../../ui/storage.ts';
import { useAction, type Loaded } from '../../ui/use-request.ts';
import { AttachDialog } from './attach-dialog.tsx';
import { DoctorView } from './doctor-view.tsx';
import { nodesetColumns } from './nodeset-columns.tsx';
import { NodesetDetail } from './nodeset-detail.tsx';
import { sorted } from './nodeset-words.ts';
import { useNodesets } from './use-nodesets.ts';

export function NodesetsPage() {
  const { client } = useStudio();
  const list = useNodesets();
  const [isAttaching, setAttaching] = useState(false);
  const [selected, setSelected] = useSelected();
  const scanning = useAction();
  const scan = (): void =>
    scanning.run(async () => {
      await client.request('nodesets.rescan', {});
      list.reload();
    });
  return (
    <>
      <PageHead title="Nodesets" sub={list.value ? countsOf(list.value) : 'Environments, policies and tools'}>
        <button type="button" className="button" onClick={() => setAttaching(true)}>
          Attach a server
        </button>
        <button type="button" className="button" disabled={scanning.isBusy} onClick={scan}>
          {scanning.isBusy ? 'Scanning' : 'Scan again'}
        </button>
      </PageHead>
      {scanning.error ? <ErrorCallout title="The scan failed." error={scanning.error} /> : null}
      <Tabs.Root className="run-tabs" defaultValue="all">
        <Tabs.List className="tabs" aria-label="Nodesets and doctor">
          <Tabs.Tab className="tab" value="all">
            All
          </Tabs.Tab>
          <Tabs.Tab className="tab" value="doctor">
            Doctor
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel className="run-panel" value="all" tabIndex={-1}>
          <NodesetTable list={list} selected={selected} onSelect={setSelected} />
        </Tabs.Panel>
        <Tabs.Panel className="run-panel" value="doctor">
          <DoctorView />
        </Tabs.Panel>
      </Tabs.Root>
      {isAttaching ? (
        <AttachDialog
          onClose={() => setAttaching(false)}
          onAttached={(name) => {
            setAttaching(false);
            setSelected(name);
            list.reload();
          }}
        />
      ) : null}
    </>
  );
}

function useSelected(): readonly [string | null, (name: string | null) => void] {
  const [selected, setSelected] = useState(() => {
    const kept = recall('nodesets.selected');
    return typeof kept === 'string' ? kept : null;
  });
  const select = useCallback((name: string | null) => {
    setSelected(name);
    remember('nodesets.selected', name);
  }, []);
  return [selected, select];
}

interface NodesetTableProps {
  readonly list: Loaded<readonly NodesetSummary[]>;
  readonly selected: string | null;
  readonly onSelect: (name: string | null) => void;
}

function NodesetTable({ list, selected, onSelect }: NodesetTableProps) {
  const [sort, setSort] = useState<readonly GridSort[]>([{ column: 'name', descending: false }]);
  const [detaching, setDetaching] = useState<string | null>(null);
  const rows = useMemo(() => sorted(list.value ?? [], sort), [list.value, sort]);
  const at = rows.findIndex(({ name }) => name === selected);
  const chosen = rows[at];
  const choose = useCallback((position: number) => onSelect(rows[position]?.name ?? null), [rows, onSelect]);
  return (
    <>
      <DataGrid<NodesetSummary>
        label="Nodesets"
        storageKey="nodesets"
        columns={nodesetColumns}
        count={rows.length}
        itemAt={(position) => {
          const row = rows[position];
          return row ? { kind: 'row', key: row.name, row } : undefined;
        }}
        version={rows}
        sort={sort}
        onSort={(column) => setSort(nextSort(sort, column, false))}
        selected={at}
        onSelect={choose}
        onOpen={choose}
        aside={
          chosen ? (
            <NodesetDetail
              nodeset={chosen}
              onClose={() => onSelect(null)}
              onDetach={() => setDetaching(chosen.name)}
            />
          ) : null
        }
        empty={<NothingFound list={list} />}
      />
      {detaching === null ? null : (
        <DetachDialog name={detaching} onClose={() => setDetaching(null)} onDetached={list.reload} />
      )}
    </>
  );
}

interface DetachDialogProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onDetached: () => void;
}

function DetachDialog({ name, onClose, onDetached }: DetachDialogProps) {
  const { client } = useStudio();
  const detaching = useAction();
  const detach = (): void =>
    detaching.run(async () => {
      await client.request('nodesets.detach', { name });
      onDetached();
      onClose();
    });
  return (
    <ConfirmDialog
      isOpen
      title={`Detach ${name}?`}
      action="Detach"
      isBusy={detaching.isBusy}
      onConfirm={detach}
      onClose={onClose}
    >
      <p>Its address is forgotten here and graphs that use it stop working. The server goes on running.</p>
      {detaching.error ? <ErrorCallout title="It was not detached." error={detaching.error} /> : null}
    </ConfirmDialog>
  );
}

function NothingFound({ list }: Pick<NodesetTableProps, 'list'>) {
  const info = useStudioState((state) => state.info);
  if (list.error)
    return (
      <ErrorCallout title="The nodesets could not be listed." error={list.error}>
        <button type="button" className="button" onClick={list.reload}>
          Try again
        </button>
      </ErrorCallout>
    );
  if (list.value === null) return <Skeleton lines={4} label="Reading the nodesets" />;
  return (
    <EmptyState title="No nodeset was found">
      <p>
        Put a Python or TypeScript nodeset into{' '}
        {info ? <code>{info.workspace}/nodesets</code> : 'the workspace’s nodesets folder'} and scan again, or
        attach a server that runs elsewhere.
      </p>
    </EmptyState>
  );
}

function countsOf(nodesets: readonly NodesetSummary[]): string {
  const loaded = nodesets.filter(({ state }) => state === 'loaded').length;
  const failed = nodesets.filter(({ state }) => state === 'failed').length;
  const parts = [formatPlural(nodesets.length, 'nodeset'), loaded > 0 && `${loaded} loaded`];
  return [...parts, failed > 0 && `${failed} to look at`].filter(Boolean).join(', ');
}
