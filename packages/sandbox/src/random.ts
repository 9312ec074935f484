export type Random = () => number;

type Part = string | number;

/**
 * A 32-bit hash. Every random stream is seeded with a hash of its purpose, so that an additional draw in one
 * stream does not change another.
 */
export function hash(...parts: readonly Part[]): number {
  let state = 0x811c9dc5;
  for (const part of parts) {
    const text = String(part);
    for (let at = 0; at < text.length; at += 1)
      state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
    state = Math.imul(state ^ 0x1f, 0x01000193); // so that ('ab', 'c') is not ('a', 'bc')
  }
  return mix(state);
}

/** A repeatable stream of numbers in [0, 1) for a list of parts. */
export function randomOf(...parts: readonly Part[]): Random {
  let state = hash(...parts);
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    return mix(state) / 0x1_0000_0000;
  };
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

export function between(random: Random, low: number, high: number): number {
  return low + random() * (high - low);
}

export function wholeBetween(random: Random, low: number, high: number): number {
  return Math.floor(between(random, low, high + 1));
}

/** A standard normal number (Box–Muller). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Samples distinct indexes below `size`, in ascending order. */
export function sampleIndexes(random: Random, size: number, count: number): number[] {
  const chosen: number[] = [];
  for (let at = 0; at < size && chosen.length < count; at += 1)
    if (random() * (size - at) < count - chosen.length) chosen.push(at);
  return chosen;
}
