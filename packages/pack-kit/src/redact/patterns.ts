import { isSpace, isWord, readingsOf, type Reading } from './reading.js';

/** Shorter values occur in ordinary text. */
export const MIN_LENGTH = 6;
/** A plain word or number below this length is matched only as a whole word. */
const COMMON_LENGTH = 12;
/** Units of a pattern that the index is built over. At most `MIN_LENGTH`. */
const PREFIX = 4;

/** One way to write a secret, without spaces. */
interface Pattern {
  readonly units: Uint16Array;
  /** Likely to occur in ordinary text: matched as a whole word, without spaces inside. */
  readonly common: boolean;
}

/** A part of a reading: `start` inclusive, `end` exclusive. */
export type Range = readonly [start: number, end: number];

/**
 * The patterns that find a secret in the readings of a string. Escapes are decoded by the reading; the
 * patterns cover base64, which depends on the bytes around the secret.
 */
export function patternsOf(secret: string): readonly Pattern[] {
  const url = encodeURIComponent(Buffer.from(secret).toString());
  // A secret that looks escaped is decoded together with the surrounding text.
  const decoded = [...readingsOf(secret)].map(({ units }) => patternOf(units));
  const plain = [secret, JSON.stringify(secret).slice(1, -1), secret.replaceAll(' ', '+')].map(
    patternOfText,
  );
  // The base64 of a common word is not common.
  const encoded = [secret, url]
    .flatMap(base64Of)
    .map((text) => ({ ...patternOfText(text), common: false }));
  const all = [...plain, ...decoded.filter(({ common }) => !common), ...encoded];
  return all.filter(({ units }) => units.length >= MIN_LENGTH);
}

function patternOfText(text: string): Pattern {
  const [raw] = readingsOf(text);
  return patternOf(raw!.units);
}

function patternOf(given: Uint16Array): Pattern {
  const units = given.filter((unit) => !isSpace(unit));
  return { units, common: units.length < COMMON_LENGTH && isPlainWord(units) };
}

const isPlainWord = (units: Uint16Array): boolean =>
  /^(?:\p{L}+|\p{N}+)$/u.test(String.fromCharCode(...units));

/** The part of the base64 that does not depend on the surrounding bytes. */
function base64Of(value: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const first = Math.ceil((before * 8) / 6);
    const end = Math.floor((bytes.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((as) => bytes.toString(as).slice(first, end));
  });
}

/**
 * Finds many patterns in one pass, in time independent of their number: a table indexes the first four
 * units of each pattern.
 */
export class PatternIndex {
  readonly #begins = new Uint8Array(0x1_00_00);
  readonly #byPrefix = new Map<number, Pattern[]>();
  /** Length of the shortest pattern. */
  readonly minLength: number;

  constructor(patterns: readonly Pattern[]) {
    // The longest first: a secret may contain another one.
    for (const pattern of patterns.toSorted((a, b) => b.units.length - a.units.length)) {
      const key = pattern.units.subarray(0, PREFIX).reduce(nextKey, 0);
      const same = this.#byPrefix.get(key);
      if (same) same.push(pattern);
      else this.#byPrefix.set(key, [pattern]);
      this.#begins[slotOf(key)] = 1;
    }
    this.minLength = Math.min(...patterns.map(({ units }) => units.length));
  }

  /** The next match from a position on. */
  matchFrom({ units }: Reading, from: number): Range | undefined {
    const begins = this.#begins;
    // Positions of the last four visible units, which form the key.
    let [first, second, third, last] = [0, 0, 0, 0];
    let [key, seen] = [0, 0];
    for (let at = from; at < units.length; at++) {
      const unit = units[at]!;
      if (isSpace(unit)) continue;
      key = nextKey(key, unit);
      first = second;
      second = third;
      third = last;
      last = at;
      seen++;
      if (begins[slotOf(key)] === 0 || seen < PREFIX) continue;
      const end = this.#matchAt(units, first, key);
      if (end !== undefined) return [first, end];
    }
    return undefined;
  }

  #matchAt(units: Uint16Array, start: number, key: number): number | undefined {
    for (const pattern of this.#byPrefix.get(key) ?? []) {
      const end = endOfMatch(units, start, pattern);
      if (end !== undefined) return end;
    }
    return undefined;
  }
}

function endOfMatch(
  units: Uint16Array,
  start: number,
  { units: wanted, common }: Pattern,
): number | undefined {
  let at = start;
  for (const unit of wanted) {
    if (!common) at = afterSpaces(units, at);
    if (units[at] !== unit) return undefined;
    at++;
  }
  return common && (isWord(units[start - 1]) || isWord(units[at])) ? undefined : at;
}

function afterSpaces(units: Uint16Array, from: number): number {
  let at = from;
  while (at < units.length && isSpace(units[at]!)) at++;
  return at;
}

/** The low bytes of the last four units. */
const nextKey = (key: number, unit: number): number => (key << 8) | (unit & 0xff);
const slotOf = (key: number): number => Math.imul(key, 0x9e_37_79_b1) >>> 16;
