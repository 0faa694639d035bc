// The shell: providers, rail, the page the address names, and what lies over it.
import { CSPProvider } from '@base-ui/react/csp-provider';
import { Tooltip } from '@base-ui/react/tooltip';
import { useEffect, useRef } from 'react';
import { ComparePage } from '../features/compare/compare-page.tsx';
import { CanvasPage } from '../features/canvas/canvas-page.tsx';
import { EvaluatePage } from '../features/eval/evaluate-page.tsx';
import { NodesetsPage } from '../features/nodesets/nodesets-page.tsx';
import { ReplayPage } from '../features/replay/replay-page.tsx';
import { HistoryPage } from '../features/runs/history-page.tsx';
import { RunPage } from '../features/runs/run-page.tsx';
import { SettingsPage } from '../features/settings/settings-page.tsx';
import type { Address } from '../store/address.ts';
import type { Studio } from '../store/studio.ts';
import { StudioProvider, useAddress, useStudio, useStudioState } from '../store/use-studio.tsx';
import { CommandPalette } from './command-palette.tsx';
import { KeySheet } from './key-sheet.tsx';
import { Notices } from './notices.tsx';
import { Rail } from './rail.tsx';
import { RefusedPage } from './refused-page.tsx';
import { useGlobalCommands } from './use-global-commands.ts';
import { useKeys } from './use-keys.ts';

export function App({ studio }: { readonly studio: Studio }) {
  return (
    <CSPProvider disableStyleElements>
      <StudioProvider studio={studio}>
        <Tooltip.Provider delay={500}>
          <Shell />
        </Tooltip.Provider>
      </StudioProvider>
    </CSPProvider>
  );
}

function Shell() {
  const studio = useStudio();
  const address = useAddress();
  const isRefused = useStudioState((state) => state.connection.kind === 'refused');
  const main = useRef<HTMLElement>(null);
  useGlobalCommands();
  useKeys();
  const place = `${address.page}/${address.run ?? ''}`;
  const isFirst = useRef(true);
  useEffect(() => {
    // Another page: the keyboard and the screen reader follow, and files put into the workspace meanwhile are seen.
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true });
      void studio.refreshGraphs();
    }
    isFirst.current = false;
  }, [place, studio]);
  if (isRefused) return <RefusedPage />;
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to content
      </a>
      <Rail />
      <main className="main" id="main" ref={main} tabIndex={-1}>
        <Page key={place} address={address} />
      </main>
      <CommandPalette />
      <KeySheet />
      <Notices />
    </div>
  );
}

function Page({ address }: { readonly address: Address }) {
  switch (address.page) {
    case 'evaluate':
      return address.run === null ? <EvaluatePage /> : <RunPage runId={address.run} />;
    case 'history':
      return address.run === null ? <HistoryPage /> : <RunPage runId={address.run} />;
    case 'compare':
      return <ComparePage />;
    case 'replay':
      return <ReplayPage />;
    case 'canvas':
      return <CanvasPage />;
    case 'nodesets':
      return <NodesetsPage />;
    case 'settings':
      return <SettingsPage />;
  }
}
