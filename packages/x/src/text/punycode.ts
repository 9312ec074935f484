/** The numbers of RFC 3492, section 5. */
const BASE = 36;
const LEAST_THRESHOLD = 1;
const MOST_THRESHOLD = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_CODE = 0x80;

/**
 * How long a text is in Punycode (RFC 3492), without the `xn--` of a host. Unlike `domainToASCII` of Node
 * it knows no text that cannot be written. Takes the square of the length: give it nothing long.
 */
export function punycodeLength(text: string): number {
  const codes = Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
  const basic = codes.filter((code) => code < FIRST_CODE).length;
  const others = [...new Set(codes)].filter((code) => code >= FIRST_CODE).toSorted((a, b) => a - b);
  let length = basic === 0 ? 0 : basic + 1;
  let [handled, delta, bias] = [basic, 0, FIRST_BIAS];
  let next = FIRST_CODE;
  for (const other of others) {
    delta += (other - next) * (handled + 1);
    for (const code of codes) {
      if (code < other) delta++;
      if (code !== other) continue;
      length += digitsOf(delta, bias);
      bias = adapt(delta, handled + 1, handled === basic);
      delta = 0;
      handled++;
    }
    delta++;
    next = other + 1;
  }
  return length;
}

function digitsOf(delta: number, bias: number): number {
  let [rest, digits] = [delta, 1];
  for (let place = BASE; ; place += BASE) {
    const threshold = Math.min(Math.max(place - bias, LEAST_THRESHOLD), MOST_THRESHOLD);
    if (rest < threshold) return digits;
    rest = Math.floor((rest - threshold) / (BASE - threshold));
    digits++;
  }
}

function adapt(delta: number, points: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / points);
  let bias = 0;
  const span = BASE - LEAST_THRESHOLD;
  for (; rest > (span * MOST_THRESHOLD) / 2; bias += BASE) rest = Math.floor(rest / span);
  return bias + Math.floor(((span + 1) * rest) / (rest + SKEW));
}
