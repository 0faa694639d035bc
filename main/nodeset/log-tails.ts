// The last lines each nodeset's processes printed, kept after their end so that a failure can be read.

const linesKept = 200;

export interface LogTails {
  readonly sinkFor: (nodeset: string, instance: string) => (line: string) => void;
  /** Oldest first, each with the instance that printed it. */
  tail(nodeset: string): readonly string[];
}

export function createLogTails(): LogTails {
  const lines = new Map<string, string[]>();
  return {
    sinkFor(nodeset, instance) {
      const kept = lines.get(nodeset) ?? [];
      lines.set(nodeset, kept);
      return (line) => {
        kept.push(`${instance}: ${line}`);
        // Cut in strides: shifting an array for every line of a chatty process is what costs.
        if (kept.length >= linesKept * 2) kept.splice(0, kept.length - linesKept);
      };
    },
    tail: (nodeset) => (lines.get(nodeset) ?? []).slice(-linesKept),
  };
}
