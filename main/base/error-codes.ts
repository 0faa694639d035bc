// The closed list of error codes. Browser-safe and dependency-free: the contract builds its schema from it,
// every layer throws with it, and hosts map it to exit codes and HTTP statuses.

/** Every code an error of the product can carry, with what it means to the person who reads it. */
export const errorCodes = {
  aborted: 'Somebody stopped it. Never recorded as a failure.',
  invalid_input: 'The request or a flag is not of the right form.',
  not_found: 'The named thing does not exist.',
  conflict: 'The thing exists already, or changed in between.',
  guard_busy: 'Canvas Play or another batch holds the execution guard.',
  workspace_busy: 'Another process owns the workspace and does not answer.',
  read_only: 'The workspace is open read-only.',
  untrusted: 'Code outside a trusted folder would run.',
  graph_invalid: 'The graph has errors that block running it.',
  graph_too_large: 'The file exceeds a limit of size, depth, nodes or edges.',
  unknown_node_type: 'No loaded nodeset provides this node type.',
  node_failed: 'A node threw, or returned an error without declaring an error output.',
  firing_cap: 'The graph fired more often than its budgets allow.',
  strict_errors: 'strictErrors ended the run at the first node error.',
  nodeset_unknown: 'No nodeset of that name was found.',
  nodeset_failed: 'The nodeset could not be loaded.',
  interpreter_not_found: 'The interpreter a nodeset names was not found.',
  spawn_failed: 'The process could not be started.',
  handshake_failed: 'The process started but did not complete the handshake.',
  process_died: 'The process ended by itself or was killed.',
  protocol_error: 'Bytes on a connection were not a valid frame.',
  connection_closed: 'The connection ended while a reply was awaited.',
  timeout: 'A deadline passed.',
  remote_error: 'The other side answered with an error.',
  fatal: 'The process reported a state it cannot recover from; it is replaced.',
  episode_unknown: 'The split has no such episode.',
  episodes_unbounded: 'The environment has no fixed number of episodes.',
  no_verdict: 'The graph ended without a metric.',
  disk_full: 'No space is left; the run pauses.',
  io_failed: 'Reading or writing a file failed.',
  corrupt: 'A file could not be parsed or its checksum is wrong.',
  model_failed: 'A model could not be loaded or its output does not fit.',
  unsupported: 'Not possible on this system or in this host.',
  unauthorized: 'The token, host name or origin was refused.',
  internal: 'A bug. Please report it with the log.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

export const errorCodeNames = Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]];
