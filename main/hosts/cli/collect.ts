// For options that may be given several times. Without a default, help shows none.

export type Collected = readonly string[] | undefined;

export const collect = (value: string, previous: Collected): Collected => [...(previous ?? []), value];
