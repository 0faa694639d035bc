// The argument lists of the `docker` program. Pure: what a container is given, and nothing it is not given.
import path from 'node:path';
import { StudioError } from '../../base/errors.ts';
import type { ServerNeeds } from '../../contract/spawners.ts';
import { handshakeVariable, listenVariable, nonceVariable, ownerVariable } from '../../process/owner.ts';

/** Inside the container, which has a network of its own: published on this machine's loopback, on a port Docker picks. */
export const containerPort = 47_100;
export const containerListen = `tcp:0.0.0.0:${containerPort}`;
const doorFolder = '/agentcanvas/door';
export const doorFile = `${doorFolder}/handshake`;
/** One per engine, one per process: swept by them. */
export const ownerLabel = 'agentcanvas.owner';
const processLabel = 'agentcanvas.process';

export interface ContainerStart {
  readonly nodeset: string;
  readonly needs: ServerNeeds;
  /** Program in the image, and its arguments. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Shown to it read-only, at the paths they have here, so that its tracebacks name real files. */
  readonly files: readonly string[];
  readonly ownerMarker: string;
  readonly name: string;
  /** Docker writes the container's id there. */
  readonly idFile: string;
  /** Host folder that takes the handshake. */
  readonly doorFolder: string;
}

/** Variables that `docker` itself reads are given by value, all others by name, so that no list of processes shows them. */
const readByDocker = /^(?:PATH|HOME|HTTPS?_PROXY|NO_PROXY|DOCKER_.*|XDG_.*)$/i;
const given = [ownerVariable, nonceVariable, listenVariable];

/** `docker` followed by this runs one replica in the foreground: its end is the container's end. */
export function runArguments(start: ContainerStart): string[] {
  const { needs, nodeset, env } = start;
  if (!needs.image) throw new StudioError('invalid_input', `nodeset "${nodeset}" names no server_image`);
  const named = Object.entries(env).map(([name, value]) =>
    readByDocker.test(name) ? `${name}=${value}` : name,
  );
  const flags: readonly (readonly [string, string])[] = [
    ['--name', start.name],
    ['--label', `${ownerLabel}=${start.ownerMarker}`],
    ['--label', `${processLabel}=${nodeset}`],
    ['--cidfile', start.idFile],
    ['--network', 'bridge'],
    ['--publish', `127.0.0.1::${containerPort}`],
    ['--security-opt', 'no-new-privileges'],
    ...gpuFlags(needs),
    ...(needs.user ? [['--user', needs.user] as const] : []),
    ...(needs.cpus ? [['--cpus', String(needs.cpus)] as const] : []),
    ...start.files.map((file) => ['--mount', bind(file, file, true)] as const),
    ['--mount', bind(start.doorFolder, doorFolder, false)],
    ...(needs.mounts ?? []).map((mount) => ['--mount', userMount(mount, nodeset)] as const),
    ['--workdir', start.cwd],
    ...[...given, 'PYTHONUTF8', ...named].map((name) => ['--env', name] as const),
    ['--env', `${handshakeVariable}=${doorFile}`],
    ['--entrypoint', start.command],
  ];
  // -i: its standard input is the lifeline. --init: the host is not process 1, so it can end itself.
  return ['run', '--rm', '-i', '--init', ...flags.flat(), needs.image, ...start.args];
}

export function portArguments(containerId: string): string[] {
  return ['port', containerId, `${containerPort}/tcp`];
}

/** Also of one that is gone: then it says so and that is that. */
export function removeArguments(containerIds: readonly string[]): string[] {
  return ['rm', '--force', '--volumes', ...containerIds];
}

export function listArguments(ownerMarker: string): string[] {
  return ['ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${ownerLabel}=${ownerMarker}`];
}

/** The loopback address in what `docker port` prints, one per line. */
export function publishedAddress(output: readonly string[]): string {
  const line = output.map((each) => each.trim()).find((each) => /^127\.0\.0\.1:\d+$/.test(each));
  if (line !== undefined) return `tcp:${line}`;
  throw new StudioError(
    'spawn_failed',
    `Docker published no port on 127.0.0.1 but: ${output.join(' ').slice(0, 200) || 'nothing'}`,
  );
}

function gpuFlags({ gpu }: ServerNeeds): readonly (readonly [string, string])[] {
  if (gpu === null || gpu === undefined || gpu === 0) return [];
  return [['--gpus', typeof gpu === 'number' ? String(Math.ceil(gpu)) : gpu]];
}

function userMount(mount: string, nodeset: string): string {
  const isReadOnly = mount.endsWith(':ro');
  const [source = '', target = source, ...rest] = mount.replace(/:(?:ro|rw)$/, '').split(':');
  if (rest.length === 0 && path.posix.isAbsolute(source) && path.posix.isAbsolute(target))
    return bind(source, target, isReadOnly);
  throw new StudioError(
    'invalid_input',
    `server_mounts of "${nodeset}" has "${mount}"; write /folder or /folder:/folder/in/container, with :ro for read-only`,
  );
}

/** The value is CSV: a member with a comma or a quote is quoted. */
function bind(source: string, target: string, isReadOnly: boolean): string {
  const members = ['type=bind', `source=${source}`, `target=${target}`, ...(isReadOnly ? ['readonly'] : [])];
  return members
    .map((member) => (/[",]/.test(member) ? `"${member.replaceAll('"', '""')}"` : member))
    .join(',');
}
