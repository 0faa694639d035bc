// A log file that never grows beyond its limits: appended in order, rotated by size, three kept. A disk that is slow
// or full costs log lines, counted, and never memory or an error.
import { appendFile, mkdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';

const rotateBytes = 10 * 2 ** 20;
const keptFiles = 3;
const queueBytes = 2 ** 20;

export interface RotatedFileOptions {
  readonly rotateBytes?: number;
}

export class RotatedFile implements AsyncDisposable {
  readonly #path: string;
  readonly #rotateBytes: number;
  #queue: string[] = [];
  #queuedLength = 0;
  #droppedLines = 0;
  #fileBytes: number | undefined;
  #writing: Promise<void> | undefined;

  constructor(filePath: string, options: RotatedFileOptions = {}) {
    this.#path = filePath;
    this.#rotateBytes = options.rotateBytes ?? rotateBytes;
  }

  append(line: string): void {
    if (this.#queuedLength > queueBytes) {
      this.#droppedLines++;
      return;
    }
    this.#queue.push(line);
    this.#queuedLength += line.length + 1;
    this.#writing ??= this.#drain().finally(() => (this.#writing = undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      if (this.#droppedLines > 0)
        this.#queue.push(`[${this.#droppedLines} lines left out: the disk is slower than the log]`);
      const text = `${this.#queue.join('\n')}\n`;
      const lineCount = this.#queue.length;
      this.#queue = [];
      this.#queuedLength = 0;
      this.#droppedLines = 0;
      try {
        await this.#write(text);
      } catch {
        this.#droppedLines += lineCount; // said in the file once it can be written again
      }
    }
  }

  async #write(text: string): Promise<void> {
    if (this.#fileBytes === undefined) {
      await mkdir(path.dirname(this.#path), { recursive: true });
      this.#fileBytes = await stat(this.#path).then(
        ({ size }) => size,
        () => 0,
      );
    }
    if (this.#fileBytes >= this.#rotateBytes) await this.#rotate();
    await appendFile(this.#path, text);
    this.#fileBytes += Buffer.byteLength(text);
  }

  async #rotate(): Promise<void> {
    for (let age = keptFiles - 2; age >= 0; age--)
      await rename(this.#named(age), this.#named(age + 1)).catch(ignoreAbsent);
    this.#fileBytes = 0;
  }

  #named(age: number): string {
    const { dir, name, ext } = path.parse(this.#path);
    return path.join(dir, age === 0 ? `${name}${ext}` : `${name}.${age}${ext}`);
  }
}

/** An older file that is not there yet needs no new name; if it cannot be renamed it is overwritten by the next. */
function ignoreAbsent(): void {}

/** A label as part of a file name on every system. */
export function fileNameOf(label: string): string {
  return (
    label
      .replaceAll(/[^\p{L}\p{N}._#-]/gu, '_')
      .replace(/^\.+/, '_')
      .slice(0, 100) || '_'
  );
}
