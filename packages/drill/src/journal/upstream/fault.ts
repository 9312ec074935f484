/** How the upstream treats a write, and whether it has acted by then. */
const writeFaults = Object.freeze({
  'close-before-read': { commits: false },
  'refuse-503': { commits: false },
  'refuse-429': { commits: false },
  'commit-then-close': { commits: true },
  'commit-then-503': { commits: true },
  'commit-then-hang': { commits: true },
  'commit-then-half': { commits: true },
  'commit-then-garbage': { commits: true },
} as const);

export type WriteFault = keyof typeof writeFaults;

export const allWriteFaults = Object.freeze(Object.keys(writeFaults)) as readonly WriteFault[];

/** A small, seeded source of luck: the same seed gives the same storm to every upstream. */
export function luck(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
