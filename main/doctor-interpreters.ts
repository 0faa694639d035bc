// The doctor's part about Python: what builds environments, and whether each nodeset's interpreter has what the
// nodeset imports.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { RequestOutput } from './contract/api.ts';
import { messageOf } from './base/errors.ts';
import type { NodesetSummary } from './contract/nodeset.ts';
import type { PythonProbe } from './nodeset/environments/python-probe.ts';
import type { NodesetRegistry } from './nodeset/ports.ts';

type Check = RequestOutput<'doctor.run'>['checks'][number];
const run = promisify(execFile);

export async function interpreterChecks(
  registry: Pick<NodesetRegistry, 'list' | 'importsOf'>,
  probe: PythonProbe,
): Promise<Check[]> {
  const python = registry
    .list()
    .filter(({ language, origin }) => language === 'python' && origin !== 'attached');
  const checks: Check[] = [await builderCheck()];
  // One after the other: each starts an interpreter.
  for (const nodeset of python)
    checks.push(await nodesetCheck(nodeset, registry.importsOf(nodeset.name), probe));
  return checks;
}

/** Without uv the venv module and pip do it; slower, the same result. */
async function builderCheck(): Promise<Check> {
  const about = { name: 'environment builder', ok: true, command: 'uv --version', fix: '' };
  try {
    const { stdout } = await run('uv', ['--version'], { timeout: 10_000 });
    return { ...about, output: stdout.trim() };
  } catch {
    return { ...about, output: 'uv is not installed; environments are built with venv and pip' };
  }
}

async function nodesetCheck(
  { name, interpreterPath, environment, error }: NodesetSummary,
  imports: readonly string[],
  probe: PythonProbe,
): Promise<Check> {
  const about = { name: `interpreter of ${name}`, command: '', fix: '' };
  if (environment && environment.state !== 'ready' && environment.state !== 'unneeded')
    return {
      ...about,
      ok: false,
      output: `environment ${environment.state}: ${environment.requirements.join(', ')}`,
      fix: `Build it: ${environment.command}`,
    };
  const another = `agentcanvas nodesets set-interpreter ${name} PYTHON`;
  if (interpreterPath === undefined)
    return { ...about, ok: false, output: error ?? 'not known', fix: `Name one that exists: ${another}` };
  const command = `${interpreterPath} --version`;
  try {
    const foreign = imports.filter((module) => module !== 'app');
    const { version, missing } = await probe.ask(interpreterPath, { modules: foreign });
    const output = `${interpreterPath} (Python ${version})`;
    if (missing.length === 0) return { ...about, ok: true, command, output };
    return {
      ...about,
      ok: error === undefined,
      command,
      output: `${output} does not find: ${missing.join(', ')}`,
      fix: `Install what provides them: ${interpreterPath} -m pip install ${missing.join(' ')}; or ${another}`,
    };
  } catch (thrown) {
    return { ...about, ok: false, command, output: messageOf(thrown), fix: `Set another: ${another}` };
  }
}
