// Python environments through a graph of five nodes, beside Gymnasium's vector environments, the bare environment and
// the design of the seeds: same interpreter, same environment, same actions. BENCH_PYTHON names the interpreter
// (default python3); BENCH_ENVIRONMENTS, BENCH_COUNTS, BENCH_ROUNDS and BENCH_WINDOW_MS choose a part.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '../../main/base/clock.ts';
import { silentLogger } from '../../main/base/logger.ts';
import { engineLayout } from '../../main/layout.ts';
import { createNodesetLayer, type NodesetLayer } from '../../main/nodeset-layer.ts';
import { root, saveResult, takeTurns, verdict } from './harness.ts';
import { environments } from './python/actions.ts';
import { localGraphs } from './python/local-graph.ts';
import { measureCell } from './python/measure-cell.ts';
import { startRawPing } from './raw-ping.ts';

const python = process.env['BENCH_PYTHON'] ?? 'python3';
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 9);
const windowMs = Number(process.env['BENCH_WINDOW_MS'] ?? 500);
// Raised to try the benchmark out on a busy machine; its figures are then no figures.
const foreignShareLimit = Number(process.env['BENCH_FOREIGN_SHARE'] ?? 0.15);
const counts = listOf('BENCH_COUNTS')?.map(Number) ?? [1, 4, 8];
const executorGoalUs = 15;

const scratch = mkdtempSync(path.join(os.tmpdir(), 'bench-'));
// Children of the engine inherit these: the environments are found by import, computed with one thread, in the one interpreter.
process.env['PYTHONPATH'] = path.join(import.meta.dirname, 'python');
process.env['OMP_NUM_THREADS'] = '1';
process.env['GYMNASIUM_PYTHON'] = python;

const packages = installedPackages();
console.log(
  `Interpreter: ${python}, ${Object.entries(packages)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')}`,
);
const measurable = environments.filter((environment) => {
  const wanted = listOf('BENCH_ENVIRONMENTS');
  if (wanted && !wanted.includes(environment.title)) return false;
  const missing = environment.packages.filter((name) => packages[name] === undefined);
  if (missing.length > 0) console.log(`${environment.title} is left out: without ${missing.join(', ')}.`);
  return missing.length === 0;
});
const hasFastApi = packages['fastapi'] !== undefined && packages['uvicorn'] !== undefined;
if (!hasFastApi) console.log('The FastAPI design is left out: without fastapi or uvicorn.');

const settings = { python, rounds, windowMs, foreignShareLimit, scratch, hasFastApi };
{
  await using layer = await createNodesetLayer({
    clock: systemClock,
    logger: silentLogger,
    layout: engineLayout(new URL('../../main/layout.ts', import.meta.url).href),
    cacheFolder: path.join(scratch, 'cache'),
    workspaceFolder: scratch,
    folders: [{ folder: path.join(root, '.ci/bench/nodesets'), origin: 'workspace' }],
    isTrusted: async () => true,
    python,
  });
  await layer.registry.scan();
  using ping = await startRawPing(path.join(scratch, 'ping.sock'));
  const executor = await measureExecutor(layer);
  const cells: object[] = [];
  for (const environment of measurable)
    for (const count of counts)
      cells.push(await measureCell({ layer, ping, environment, count, ...settings }));
  rmSync(scratch, { recursive: true, force: true });
  saveResult('python', { python, packages, rounds, windowMs, executor, cells });
}

/** The graph alone: five nodes in this process, over the same five called in a loop. */
async function measureExecutor(layer: NodesetLayer): Promise<object> {
  await using graphs = await localGraphs(layer.registry);
  const [bare, graph] = await takeTurns(graphs.contenders, { rounds, windowMs, foreignShareLimit });
  if (!bare || !graph) throw new Error('not measured');
  const addedUs = graph.cpuUs - bare.cpuUs;
  const row = {
    'CPU µs a step, five nodes': round(graph.cpuUs, 2),
    'called in a loop': round(bare.cpuUs, 2),
    'executor adds': round(addedUs, 2),
    goal: `< ${executorGoalUs}`,
    verdict: verdict([bare, graph], addedUs < executorGoalUs),
  };
  console.table([row]);
  return row;
}

function installedPackages(): Record<string, string> {
  const program = [
    'import importlib, json',
    'found = {}',
    'for name in ("gymnasium", "numpy", "mujoco", "ale_py", "fastapi", "uvicorn", "uvloop", "httptools"):',
    '    try: found[name] = str(getattr(importlib.import_module(name), "__version__", "?"))',
    '    except Exception: pass',
    'print(json.dumps(found))',
  ].join('\n');
  return JSON.parse(execFileSync(python, ['-c', program], { encoding: 'utf8' })) as Record<string, string>;
}

function listOf(variable: string): readonly string[] | undefined {
  return process.env[variable]?.split(',');
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
