// A Python host that did not come up, in terms of what to do: which interpreter, what it lacks, how to give it another.
import { StudioError, messageOf } from '../../base/errors.ts';
import type { PythonProbe } from '../environments/python-probe.ts';
import { meetsPython } from '../environments/python-versions.ts';

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
  const message = `${withInterpreter(failure.message, interpreter)}${await remedyFor(failure, failed)}`;
  return new StudioError(failure.code, message, { cause: failure, scope: failure.scope, details });
}

function withInterpreter(message: string, interpreter: string): string {
  return message.includes(interpreter) ? message : `${message} (interpreter: ${interpreter})`;
}

async function remedyFor(
  { code, message }: StudioError,
  { nodeset, interpreter, probe }: FailedPython,
): Promise<string> {
  const another = `agentcanvas nodesets set-interpreter ${nodeset} PYTHON`;
  const module = /No module named '([\w.]+)'/.exec(message)?.[1];
  if (module !== undefined)
    return ` Install it there: ${interpreter} -m pip install ${module.split('.')[0]} (the package may have another name); or set another interpreter: ${another}`;
  if (code !== 'handshake_failed' || !probe) return '';
  try {
    const { version } = await probe.ask(interpreter);
    return meetsPython(version, '>=3.8')
      ? ''
      : `. It is Python ${version}; nodesets need 3.8 or newer. Set another interpreter: ${another}`;
  } catch (error) {
    return `. ${messageOf(error)}`;
  }
}
