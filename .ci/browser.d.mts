// The browser of the end-to-end tests and the benchmarks.
export declare function findBrowser(): string | null;
/** Gets a Chromium where there is none; throws with what to do. */
export declare function ensureBrowser(): Promise<string>;
