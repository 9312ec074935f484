/** What a draw is for. Different purposes never share a number. */
const purposes = { latency: 1, fault: 2, kind: 3, arrival: 4, outage: 5 } as const;

export type Purpose = keyof typeof purposes;

/**
 * A number in (0, 1) that depends on nothing but what it is for: attempt m of call n meets the
 * same latency and the same fault under every policy, so that policies differ by what they do and
 * not by their luck (common random numbers).
 */
export function draw(seed: number, purpose: Purpose, call: number, attempt = 0): number {
  const key = mix(Math.imul(seed, 0x9e3779b1) ^ mix(call + 1));
  const bits = mix(key ^ Math.imul(attempt * 8 + purposes[purpose], 0x85ebca6b));
  return ((bits >>> 0) + 0.5) / 4_294_967_296;
}

/** A gap between events that come at random, `meanMs` apart on average. */
export function exponential(u: number, meanMs: number): number {
  return -Math.log(u) * meanMs;
}

/** A seed for something that has its own sequence of draws. */
export function derive(seed: number, part: number): number {
  return mix(Math.imul(seed, 0x9e3779b1) + part) >>> 0;
}

/** Every bit of the input changes half the bits of the output (C. Wellons' lowbias32). */
function mix(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return h ^ (h >>> 15);
}
