// A program by name on PATH or by absolute path; nothing is run to find it.
import { access, constants } from 'node:fs/promises';
import path from 'node:path';

export async function findProgram(
  name: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string | undefined> {
  const folders = (environment['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder));
  const endings = process.platform === 'win32' ? ['.exe', ''] : [''];
  const candidates = path.isAbsolute(name)
    ? [name]
    : folders.flatMap((folder) => endings.map((ending) => path.join(folder, name + ending)));
  for (const candidate of candidates) {
    const found = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return candidate;
  }
  return undefined;
}
