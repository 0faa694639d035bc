// Runs work once per drawn frame; in a window that is not drawn, four times a second, so that nothing piles up.

export type Schedule = (work: () => void) => () => void;

const hiddenIntervalMs = 250;

export const onNextFrame: Schedule = (work) => {
  let isDone = false;
  const run = (): void => {
    if (isDone) return;
    cancel();
    work();
  };
  const frame = requestAnimationFrame(run);
  const timer = setTimeout(run, hiddenIntervalMs);
  const cancel = (): void => {
    isDone = true;
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  return cancel;
};
