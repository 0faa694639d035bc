// Where the programs of this layer lie: beside the running file, with its extension (sources run as they are, a bundle
// holds .mjs files).
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** @param moduleUrl `import.meta.url` of the caller */
export function entryBeside(moduleUrl: string, name: string): string {
  const file = fileURLToPath(moduleUrl);
  return path.join(path.dirname(file), `${name}${path.extname(file)}`);
}
