// The engine's own log: structured lines by pino into files that never grow beyond their limits.
import path from 'node:path';
import { pino, type Logger as PinoLogger } from 'pino';
import type { Logger } from './base/logger.ts';
import { RotatedFile } from './process/rotated-file.ts';

export interface LogFiles extends AsyncDisposable {
  readonly logger: Logger;
  readonly file: string;
}

/** `<folder>/engine.log`, rotated at 10 MB, three kept. */
export function openLogFiles(folder: string, redact = (line: string): string => line): LogFiles {
  const file = path.join(folder, 'engine.log');
  const rotated = new RotatedFile(file);
  const log = pino(
    { base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => rotated.append(redact(line.trimEnd())) },
  );
  return { file, logger: loggerOver(log), [Symbol.asyncDispose]: () => rotated[Symbol.asyncDispose]() };
}

function loggerOver(log: PinoLogger): Logger {
  return {
    debug: (message, fields = {}) => log.debug(fields, message),
    info: (message, fields = {}) => log.info(fields, message),
    warn: (message, fields = {}) => log.warn(fields, message),
    error: (message, fields = {}) => log.error(fields, message),
    child: (bindings) => loggerOver(log.child(bindings)),
  };
}
