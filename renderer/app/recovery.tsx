// What the engine found and mended when it took over the workspace: what happened, what was lost, what to do, one button.
// The page of a run says about it what would stand here.
import { RotateCcw, X } from 'lucide-react';
import { useState } from 'react';
import type { RecoveryItem } from '#contract/recovery.ts';
import { useAddress, useStudio, useStudioState } from '../store/use-studio.tsx';
import { useAction, useLoad } from '../ui/use-request.ts';

const buttonTexts: Readonly<Record<RecoveryItem['action'], string>> = {
  resume: 'Run what is missing',
  open_run: 'Open the run',
  open_history: 'Go to History',
  open_settings: 'Open Settings',
  acknowledge: 'Understood',
};

export function Recovery() {
  const { client } = useStudio();
  const { run } = useAddress();
  // Another engine, or a run that changed: asked again, so that what is no longer so goes away.
  const version = useStudioState((state) => state.listVersion);
  const isOpen = useStudioState((state) => state.connection.kind === 'open');
  const found = useLoad(isOpen ? `recovery/${version}/${run ?? ''}` : null, (signal) =>
    client.request('app.recovery', {}, signal),
  );
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const items = found.value?.items.filter(
    ({ id, runId }) => !gone.has(id) && (runId === null || runId !== run),
  );
  const dismiss = (id: string): void => {
    setGone((before) => new Set(before).add(id));
    client.request('app.acknowledgeRecovery', { id }).catch(() => undefined);
  };
  return items?.map((item) => <Finding key={item.id} item={item} onDismiss={() => dismiss(item.id)} />);
}

function Finding({ item, onDismiss }: { readonly item: RecoveryItem; readonly onDismiss: () => void }) {
  const { client, navigation } = useStudio();
  const { isBusy, error, run } = useAction();
  const { runId } = item;
  const act = (): void => {
    if (item.action === 'resume' && runId !== null)
      return run(async () => {
        await client.request('runs.resume', { runId });
        navigation.go({ page: 'evaluate', run: runId });
      });
    onDismiss();
    if (item.action === 'open_run' && runId !== null) navigation.go({ page: 'history', run: runId });
    if (item.action === 'open_history') navigation.go({ page: 'history' });
    if (item.action === 'open_settings') navigation.go({ page: 'settings' });
  };
  return (
    <div className="callout warn" data-testid={`recovery-${item.kind}`}>
      <RotateCcw size={16} aria-hidden="true" />
      <div className="body stack">
        <div>
          <strong>{item.happened}</strong> {item.lost} {item.toDo}
        </div>
        {error ? <div role="alert">{error.message}</div> : null}
        <div className="row wrap">
          <button type="button" className="button" disabled={isBusy} onClick={act}>
            {buttonTexts[item.action]}
          </button>
        </div>
      </div>
      <button type="button" className="button plain icon" aria-label="Dismiss notice" onClick={onDismiss}>
        <X size={14} aria-hidden="true" />
      </button>
    </div>
  );
}
