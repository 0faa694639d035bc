// Version specifiers of PEP 440 over versions of numbers, and the Pythons of this machine.
import { readdirSync } from 'node:fs';
import path from 'node:path';

/** True when `version` (`3.11.7`) meets every clause. A clause that cannot be read is met by nothing. */
export function meetsVersion(version: string, specifier: string): boolean {
  return specifier
    .split(',')
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '')
    .every((clause) => meetsClause(numbersOf(version), clause));
}

function meetsClause(version: readonly number[], clause: string): boolean {
  const match = /^(===?|!=|~=|>=|<=|>|<)\s*v?(\d+(?:\.\d+)*)(\.\*)?$/.exec(clause);
  if (!match) return false;
  const [, operator = '', text = '', star] = match;
  const wanted = numbersOf(text);
  const within = compare(version.slice(0, wanted.length), wanted) === 0;
  const order = compare(version, wanted);
  switch (operator) {
    case '==':
    case '===':
      return star ? within : order === 0;
    case '!=':
      return star ? !within : order !== 0;
    case '~=':
      return order >= 0 && compare(version.slice(0, wanted.length - 1), wanted.slice(0, -1)) === 0;
    case '>=':
      return order >= 0;
    case '<=':
      return order <= 0;
    case '>':
      // `>3.9` excludes 3.9.1: a patch of the same release is not above it.
      return order > 0 && !within;
    default:
      return order < 0;
  }
}

function numbersOf(version: string): readonly number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10) || 0);
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

export interface PythonPlaces {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
}

const minorVersions = [13, 12, 11, 10, 9, 8];

/** Programs that may be a Python, the plain `python3` of PATH first, then versions newest first. Only looks at names. */
export function pythonCandidates({ environment, homeFolder }: PythonPlaces): readonly string[] {
  const isWindows = process.platform === 'win32';
  const folders = (environment['PATH'] ?? '').split(path.delimiter).filter((each) => path.isAbsolute(each));
  const names = ['python3', ...minorVersions.map((minor) => `python3.${minor}`), 'python'];
  const onPath = folders.flatMap((folder) => {
    const present = new Set(namesIn(folder));
    const wanted = names.map((name) => (isWindows ? `${name}.exe` : name));
    return wanted.filter((name) => present.has(name)).map((name) => path.join(folder, name));
  });
  const plain = onPath.filter((file) => /^python3?(\.exe)?$/.test(path.basename(file)));
  const versioned = onPath.filter((file) => !plain.includes(file));
  return [...new Set([...plain, ...versioned, ...pyenvVersions(environment, homeFolder)])];
}

function pyenvVersions(environment: PythonPlaces['environment'], homeFolder: string): readonly string[] {
  const root = path.join(environment['PYENV_ROOT'] ?? path.join(homeFolder, '.pyenv'), 'versions');
  return namesIn(root)
    .filter((name) => /^3\.\d+/.test(name))
    .sort((a, b) => compare(numbersOf(b), numbersOf(a)))
    .map((name) => path.join(root, name, 'bin', 'python3'));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
