// Walks every real import of the source folders and holds them to the import table of docs/architecture.md.
import { readFileSync, readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Rule {
  /** Folder the rule is for; the longest match counts. */
  readonly folder: string;
  /** Project folders or single files it may import, besides itself. */
  readonly project: readonly string[];
  readonly builtins: boolean;
  /** npm packages; undefined = any that is not electron. */
  readonly packages?: readonly string[];
}

/** The files at the top of main/: what hosts are built on. */
const composition = [
  'main/studio.ts',
  'main/dispatch.ts',
  'main/event-feed.ts',
  'main/layout.ts',
  'main/version.ts',
  'main/workspace-owner.ts',
];

const rules: readonly Rule[] = [
  { folder: 'main/contract', project: ['main/base/error-codes.ts'], builtins: false, packages: ['zod'] },
  { folder: 'main/base', project: [], builtins: true, packages: [] },
  { folder: 'main/stats', project: ['main/contract', 'main/base'], builtins: true, packages: [] },
  { folder: 'main/process', project: ['main/base'], builtins: true, packages: [] },
  { folder: 'main/graph', project: ['main/contract', 'main/base'], builtins: true },
  {
    folder: 'main/nodeset',
    project: ['main/contract', 'main/base', 'main/process', 'main/graph/ports.ts'],
    builtins: true,
  },
  {
    folder: 'main/inference',
    project: ['main/contract', 'main/base', 'main/process', 'main/graph/ports.ts', 'main/nodeset/ports.ts'],
    builtins: true,
  },
  {
    folder: 'main/llm',
    project: ['main/contract', 'main/base', 'main/process', 'main/graph/ports.ts'],
    builtins: true,
  },
  { folder: 'main/store', project: ['main/contract', 'main/base', 'main/stats'], builtins: true },
  {
    folder: 'main/eval',
    project: [
      'main/contract',
      'main/base',
      'main/stats',
      'main/process',
      'main/graph',
      'main/nodeset',
      'main/inference',
      'main/llm',
      'main/store',
    ],
    builtins: true,
  },
  {
    folder: 'main/hosts',
    project: [...composition, 'main/contract', 'main/base'],
    builtins: true,
  },
  { folder: 'main', project: ['main', 'package.json'], builtins: true },
  {
    folder: 'electron',
    project: [...composition, 'main/contract', 'main/base', 'main/hosts'],
    builtins: true,
    packages: ['electron', 'zod', 'electron-updater'],
  },
  { folder: 'renderer', project: ['main/contract'], builtins: false },
  { folder: 'resources/nodesets', project: [], builtins: true, packages: ['agentcanvas'] },
];

interface Import {
  readonly from: string;
  readonly specifier: string;
  readonly target: string;
}

function sourceFiles(folder: string): string[] {
  const absolute = path.join(root, folder);
  return readdirSync(absolute, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter(
      (file) =>
        !file.includes('node_modules') && !/\.(test|bench)\.tsx?$/.test(file) && !file.includes('/testing/'),
    );
}

function importsOf(file: string): Import[] {
  const source = readFileSync(path.join(root, file), 'utf8');
  const { module } = parseSync(file, source);
  const names = [
    ...module.staticImports.map((entry) => entry.moduleRequest.value),
    ...module.staticExports.flatMap((entry) =>
      entry.entries.flatMap((one) => (one.moduleRequest ? [one.moduleRequest.value] : [])),
    ),
    ...module.dynamicImports.flatMap(
      (entry) =>
        /^['"]([^'"]+)['"]$/.exec(source.slice(entry.moduleRequest.start, entry.moduleRequest.end))?.[1] ??
        [],
    ),
  ];
  return names.map((specifier) => ({ from: file, specifier, target: resolve(file, specifier) }));
}

/** A project path, or the specifier itself for packages and builtins. */
function resolve(file: string, specifier: string): string {
  if (specifier.startsWith('#contract/')) return `main/contract/${specifier.slice('#contract/'.length)}`;
  return specifier.startsWith('.')
    ? path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier))
    : specifier;
}

function violation(entry: Import): string | null {
  const rule = rules
    .filter(({ folder }) => entry.from.startsWith(`${folder}/`))
    .sort((a, b) => b.folder.length - a.folder.length)[0];
  if (!rule) return null;
  const isProject = entry.specifier.startsWith('.') || entry.specifier.startsWith('#');
  if (isProject) return projectAllowed(rule, entry) ? null : `${entry.from} imports ${entry.target}`;
  if (isBuiltin(entry.specifier))
    return rule.builtins ? null : `${entry.from} imports the builtin ${entry.specifier}`;
  const name = entry.specifier
    .split('/')
    .slice(0, entry.specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const allowed = rule.packages ? rule.packages.includes(name) : name !== 'electron';
  return allowed ? null : `${entry.from} imports the package ${name}`;
}

function projectAllowed(rule: Rule, { target, from }: Import): boolean {
  const feature = /^renderer\/features\/([^/]+)\//;
  const [own, other] = [feature.exec(from)?.[1], feature.exec(target)?.[1]];
  if (own && other && own !== other) return false;
  return [rule.folder, ...rule.project].some(
    (allowed) => target === allowed || target.startsWith(`${allowed}/`),
  );
}

const folders = ['main', 'electron', 'renderer', 'resources/nodesets'];

describe('architecture', () => {
  const files = folders.flatMap(sourceFiles);
  const imports = files.flatMap(importsOf);

  it('finds the sources it is meant to judge', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(imports.length).toBeGreaterThan(files.length);
  });

  it('lets each folder import only what the table allows', () => {
    expect(imports.map(violation).filter((line) => line !== null)).toEqual([]);
  });

  it('keeps electron inside electron/', () => {
    expect(
      imports.filter(({ specifier, from }) => specifier === 'electron' && !from.startsWith('electron/')),
    ).toEqual([]);
  });

  it('would notice a forbidden import', () => {
    expect(violation({ from: 'renderer/app.tsx', specifier: 'node:fs', target: 'node:fs' })).toContain(
      'builtin',
    );
    expect(
      violation({ from: 'main/base/clock.ts', specifier: '../eval/pool.ts', target: 'main/eval/pool.ts' }),
    ).toContain('main/eval/pool.ts');
    expect(violation({ from: 'main/studio.ts', specifier: 'electron', target: 'electron' })).toContain(
      'electron',
    );
    expect(
      violation({
        from: 'renderer/features/runs/x.ts',
        specifier: '../eval/y.ts',
        target: 'renderer/features/eval/y.ts',
      }),
    ).toContain('features/eval');
  });
});
