// Opens a workspace for one process: the lock, settings, trust. Who comes second is told where the owner listens.
import os from 'node:os';
import path from 'node:path';
import { systemClock } from './base/clock.ts';
import { StudioError } from './base/errors.ts';
import type { Settings } from './contract/settings.ts';
import type { LastGoodFile } from './store/last-good-file.ts';
import { nodeFileSystem } from './store/node-file-system.ts';
import { acquireWorkspaceLock, type WorkspaceLock } from './store/workspace-lock.ts';
import { findOrMakeWorkspace, openSettings, userFolder, type Workspace } from './store/workspace.ts';
import { openTrustList, type TrustList } from './store/trust-list.ts';

export interface WorkspaceAccess extends AsyncDisposable {
  readonly workspace: Workspace;
  /** Null when it was opened read-only. */
  readonly lock: WorkspaceLock | null;
  readonly settings: LastGoodFile<Settings>;
  readonly trust: TrustList;
}

export interface WorkspaceRequest {
  readonly workspace?: string | undefined;
  readonly readOnly?: boolean;
  /** Folder of what ships: always trusted. */
  readonly resources: string;
}

/** Throws `workspace_busy` with the owner's address in `details`, or `read_only`. */
export async function openWorkspace(request: WorkspaceRequest): Promise<WorkspaceAccess> {
  const now = (): number => systemClock.now();
  const fileSystem = nodeFileSystem;
  const startFolder = process.env['INIT_CWD'] ?? process.cwd();
  const workspace = await findOrMakeWorkspace({ fileSystem, explicit: request.workspace, startFolder });
  const lock = request.readOnly ? null : await takeLock(workspace);
  const ownFolder = userFolder(process.env, process.platform);
  const always = [request.resources, path.join(os.homedir(), 'AgentCanvas')];
  return {
    workspace,
    lock,
    settings: openSettings({ fileSystem, now }, workspace.settingsPath),
    trust: openTrustList({ fileSystem, now }, ownFolder, always),
    [Symbol.asyncDispose]: async () => lock?.[Symbol.asyncDispose](),
  };
}

async function takeLock(workspace: Workspace): Promise<WorkspaceLock> {
  const outcome = await acquireWorkspaceLock({
    fileSystem: nodeFileSystem,
    folder: workspace.cacheFolder,
    now: () => systemClock.now(),
  });
  if (outcome.kind === 'owned') return outcome.lock;
  const who = outcome.owner ? ` (process ${outcome.owner.pid})` : '';
  throw new StudioError(
    'workspace_busy',
    `Another process${who} owns the workspace ${workspace.folder}. Close it, or choose another with --workspace.`,
    {
      details: { address: outcome.owner?.address ?? null, pid: outcome.owner?.pid ?? null },
    },
  );
}
