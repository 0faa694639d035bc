// What this browser remembers between visits. Anything unreadable counts as not there; a full store is no error.

export function remember(key: string, value: unknown): void {
  try {
    localStorage.setItem(`agentcanvas.${key}`, JSON.stringify(value));
  } catch {
    // Private windows and full stores: the choice lasts as long as the window.
  }
}

export function recall(key: string): unknown {
  try {
    const text = localStorage.getItem(`agentcanvas.${key}`);
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

export function recallStrings(key: string): string[] {
  const value = recall(key);
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
