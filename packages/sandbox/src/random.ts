export type Random = () => number;

type Part = string | number;

/**
 * A 32-bit hash of some parts. Whatever is drawn in the sandbox is drawn from a hash of what it is for, so
 * that one more draw in one place changes nothing in another.
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

/** An endless, repeatable sequence of numbers in [0, 1), its own for every list of parts. */
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

/** A standard normal number, by Box and Muller. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Some of the whole numbers below `size`, ascending, none twice, and only such as are allowed. */
export function sampleIndexes(
  random: Random,
  size: number,
  count: number,
  allowed: (index: number) => boolean = () => true,
): number[] {
  const all = Array.from({ length: size }, (_, index) => index).filter(allowed);
  const chosen: number[] = [];
  for (let at = 0; at < all.length && chosen.length < count; at += 1)
    if (random() * (all.length - at) < count - chosen.length) chosen.push(all[at] ?? 0);
  return chosen;
}
