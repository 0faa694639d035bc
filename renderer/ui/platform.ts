// The one fact about the machine the interface needs before the engine answers.
export const isMac = typeof navigator !== 'undefined' && /mac/i.test(navigator.userAgent);
