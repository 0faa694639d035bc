// The environment a child gets: the user's, without what belongs to the app, with what every child needs.
import { handshakeVariable, listenVariable, nonceVariable, ownerVariable } from './owner.ts';

/** Prefixes of variables that steer this program or its package manager, not the user's. */
const ownPrefixes = ['ELECTRON_', 'NODE_', 'npm_', 'APPIMAGE'];
const ownNames = new Set([
  'APPDIR',
  'OWD',
  'ARGV0',
  'INIT_CWD',
  'CHROME_DESKTOP',
  ownerVariable,
  nonceVariable,
  listenVariable,
  handshakeVariable,
]);
/** An AppImage puts its own folders in front of these. */
const pathLists = new Set([
  'PATH',
  'LD_LIBRARY_PATH',
  'XDG_DATA_DIRS',
  'PYTHONPATH',
  'PERLLIB',
  'QT_PLUGIN_PATH',
  'GI_TYPELIB_PATH',
]);
const loopback = ['127.0.0.1', 'localhost', '::1'];

export interface EnvironmentParts {
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Removed from the inherited part: names of secrets that the app stores. */
  readonly secretNames?: readonly string[] | undefined;
  /** Wins over the inherited part. */
  readonly added?: Readonly<Record<string, string>> | undefined;
}

export function childEnvironment(parts: EnvironmentParts): Record<string, string> {
  const secrets = new Set(parts.secretNames ?? []);
  const appFolder = parts.inherited['APPDIR'];
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(parts.inherited)) {
    if (value === undefined || isOwn(name) || secrets.has(name)) continue;
    const kept = appFolder && pathLists.has(name) ? withoutFolder(value, appFolder) : value;
    if (kept !== '' || value === '') result[name] = kept;
  }
  const noProxy = mergeNoProxy(result['NO_PROXY'], result['no_proxy']);
  return { ...result, PYTHONUTF8: '1', NO_PROXY: noProxy, no_proxy: noProxy, ...parts.added };
}

function isOwn(name: string): boolean {
  return ownNames.has(name) || ownPrefixes.some((prefix) => name.startsWith(prefix));
}

function withoutFolder(list: string, folder: string): string {
  return list
    .split(':')
    .filter((entry) => entry !== folder && !entry.startsWith(`${folder}/`))
    .join(':');
}

/** Both spellings in one, and this machine: children talk to each other and to us without a proxy. */
function mergeNoProxy(...lists: readonly (string | undefined)[]): string {
  const entries = lists.flatMap((list) => (list ?? '').split(',')).map((entry) => entry.trim());
  return [...new Set([...entries.filter((entry) => entry !== ''), ...loopback])].join(',');
}
