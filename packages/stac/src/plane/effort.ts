/** Work that is bounded, and that lets others have their turn while it lasts. */
export interface Effort {
  /** Whether that many steps may still be taken. They are used up if so. */
  readonly take: (steps: number) => boolean;
  /** After each piece of work: something to wait for, once enough has been done at a stretch. */
  readonly rest: (steps: number) => Promise<void> | undefined;
}

/** About a third of a second of comparing edges, in all. */
const MAX_STEPS = 20_000_000;
/** A few milliseconds: what others wait for at most. */
const STRETCH = 100_000;

/** One for each call: whoever sends a hundred difficult shapes gets no more than who sends one. */
export function createEffort(signal: AbortSignal, steps = MAX_STEPS): Effort {
  let left = steps;
  let stretch = 0;
  return {
    take: (wanted) => {
      if (wanted > left) return false;
      left -= wanted;
      return true;
    },
    rest: (taken) => {
      stretch += taken;
      if (stretch < STRETCH) return undefined;
      stretch = 0;
      return turn(signal);
    },
  };
}

async function turn(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  signal.throwIfAborted();
}
