// A data set on disk: one raw little-endian file per named array and a manifest that gives type and shape of a row,
// so that numpy maps it without parsing. Rows are only ever appended.
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';

export interface ArrayLayout {
  readonly dtype: 'uint8' | 'uint16' | 'int16' | 'uint32';
  /** Shape of one row; empty for a number. */
  readonly shape: readonly number[];
}

export interface ArrayFolder<Name extends string> {
  append(name: Name, rows: ArrayBufferView): void;
  /** Writes the manifest; without it the folder is not a data set. */
  close(about: Readonly<Record<string, unknown>>): void;
}

export function createArrayFolder<Name extends string>(
  folder: string,
  layouts: Readonly<Record<Name, ArrayLayout>>,
): ArrayFolder<Name> {
  mkdirSync(folder, { recursive: true });
  const files = new Map(
    Object.keys(layouts).map((name) => [name, openSync(path.join(folder, `${name}.bin`), 'w')]),
  );
  return {
    append(name, rows) {
      const file = files.get(name);
      if (file === undefined) throw new Error(`the data set has no array "${name}"`);
      writeSync(file, new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength));
    },
    close(about) {
      for (const file of files.values()) closeSync(file);
      writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify({ ...about, arrays: layouts }));
    },
  };
}
