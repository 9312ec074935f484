/** A deterministic generator of numbers in [0, 1) (xoshiro128**, seeded with splitmix32). Not for secrets. */
export function seededRandom(seed: number): () => number {
  let mix = seed >>> 0;
  const next = (): number => {
    mix = (mix + 0x9e3779b9) >>> 0;
    let z = mix;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  let a = next();
  let b = next();
  let c = next();
  let d = next();
  return () => {
    const scrambled = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return scrambled / 4294967296;
  };
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
