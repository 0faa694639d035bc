// A Python host that did not come up, in terms of what to do: which interpreter, what it lacks, how to give it another.
import { StudioError, messageOf } from '../../base/errors.ts';
import type { PythonProbe } from '../environments/python-probe.ts';
import { meetsVersion } from '../environments/python-versions.ts';

export interface FailedPython {
  readonly nodeset: string;
  /** Absolute. */
  readonly interpreter: string;
  readonly probe?: PythonProbe | undefined;
}

/** The same failure with interpreter and remedy in its message. Cancellation passes as it is. */
export async function explainPythonFailure(failure: StudioError, failed: FailedPython): Promise<StudioError> {
  if (failure.code === 'aborted') return failure;
  const { interpreter } = failed;
  const details = { interpreter, ...failure.details };
  const message = missingModule(failure.message, failed) ?? (await withRemedy(failure, failed));
  return new StudioError(failure.code, message, { cause: failure, scope: failure.scope, details });
}

/** The host says who could not import what; said once, with the commands that help. */
function missingModule(message: string, { nodeset, interpreter }: FailedPython): string | undefined {
  const said =
    /(\S.*) could not be imported with .* \(Python ([\d.]+)\): (\w+): .*?No module named '([\w.]+)'/.exec(
      message,
    );
  if (!said) return undefined;
  const [, target = '', version, kind, module = ''] = said;
  const file = target.replace(/^.*could not be started: /, '');
  const install = `${interpreter} -m pip install ${module.split('.')[0]}`;
  return `${kind}: no module ${module} in ${interpreter} (Python ${version}), which ${file} imports. Install it there, for example with \`${install}\` (the package may have another name), or set another interpreter with \`${anotherFor(nodeset)}\``;
}

function anotherFor(nodeset: string): string {
  return `agentcanvas nodesets set-interpreter ${nodeset} PYTHON`;
}

async function withRemedy(
  { code, message }: StudioError,
  { nodeset, interpreter, probe }: FailedPython,
): Promise<string> {
  const named = message.includes(interpreter) ? message : `${message} (interpreter: ${interpreter})`;
  if (code !== 'handshake_failed' || !probe) return named;
  try {
    const { version } = await probe.ask(interpreter);
    return meetsVersion(version, '>=3.8')
      ? named
      : `${named}. It is Python ${version}; nodesets need 3.8 or newer. Set another interpreter: ${anotherFor(nodeset)}`;
  } catch (error) {
    return `${named}. ${messageOf(error)}`;
  }
}
