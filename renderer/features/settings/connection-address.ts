// What a pasted address of another engine says. Pure. The token is split off: it is used to open, and never saved.
export interface ConnectionAddress {
  /** Without the token: `http://127.0.0.1:8710/`. */
  readonly url: string;
  readonly token: string;
}

/** The address that `agentcanvas serve` prints, or just host and port; undefined when it is none. */
export function parseConnection(text: string): ConnectionAddress | undefined {
  const typed = text.trim();
  const full = /^[a-z][\w+.-]*:\/\//i.test(typed) ? typed : `http://${typed}`;
  if (typed === '' || !URL.canParse(full)) return undefined;
  const { protocol, origin, hostname, hash, username, password } = new URL(full);
  if (!/^https?:$/.test(protocol) || hostname === '' || username !== '' || password !== '') return undefined;
  const token = /^#token=([0-9a-f]{16,128})$/.exec(hash)?.[1] ?? '';
  return { url: `${origin}/`, token };
}

export function addressToOpen({ url, token }: ConnectionAddress): string {
  return token === '' ? url : `${url}#token=${token}`;
}

/** Brings the engine's port to the same number here; empty without a host to go through. */
export function sshCommand(url: string, sshHost: string): string {
  const host = sshHost.trim();
  if (host === '' || !URL.canParse(url)) return '';
  const { port, protocol } = new URL(url);
  const number = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  // What a shell would read as more than a name is quoted.
  const quoted = /^[\w.@:-]+$/.test(host) ? host : `'${host.replaceAll("'", `'\\''`)}'`;
  return `ssh -N -L ${number}:127.0.0.1:${number} ${quoted}`;
}
