import { readEscape, startsEscape, type Escape } from './escapes.js';

/** A decoded string, with the source range of each UTF-16 unit. */
export interface Reading {
  readonly units: Uint16Array;
  /** Positions take five times the memory, so they are kept only on request. */
  readonly source?: Source;
}

interface Source {
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** Maximum number of nested escapings. */
const MAX_LAYERS = 4;

/** The string itself, then decoded once, twice and so on, each without invisible characters. */
export function* readingsOf(text: string, withSource = false): Generator<Reading> {
  let reading = withoutInvisible(rawReading(text, withSource));
  yield reading;
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    const decoded = decode(reading);
    if (decoded === reading) return;
    reading = withoutInvisible(decoded);
    yield reading;
  }
}

function rawReading(text: string, withSource: boolean): Reading {
  const units = new Uint16Array(text.length);
  Buffer.from(units.buffer).write(text, 'utf16le');
  if (!withSource) return { units };
  const from = Int32Array.from(units, (_, index) => index);
  return { units, source: { from, to: from.map((index) => index + 1) } };
}

/** Decodes every escape sequence once. The same reading if there is none. */
function decode(reading: Reading): Reading {
  const { units } = reading;
  const escape: Escape = { code: -1, end: 0 };
  let out: Writer | undefined;
  for (let at = 0; at < units.length; at++) {
    if (!startsEscape(units[at]!)) continue;
    readEscape(units, at, escape);
    if (escape.code >= 0) (out ??= new Writer(reading)).replace(at, escape.end, escape.code);
    at = escape.end - 1;
  }
  return out?.finish() ?? reading;
}

function withoutInvisible(reading: Reading): Reading {
  const { units } = reading;
  let out: Writer | undefined;
  for (let at = 0; at < units.length; at++) {
    if (kindOf(units[at]!) !== INVISIBLE) continue;
    const length = invisibleAt(units, at);
    if (length > 0) (out ??= new Writer(reading)).replace(at, at + length);
    at += Math.max(length - 1, 0);
  }
  return out?.finish() ?? reading;
}

/** Copies a reading with parts of it replaced, from left to right. No replacement is longer. */
class Writer {
  readonly #before: Reading;
  readonly #units: Uint16Array;
  readonly #source: Source | undefined;
  #length = 0;
  /** Number of units already copied or replaced. */
  #done = 0;

  constructor(before: Reading) {
    const { units, source } = before;
    this.#before = before;
    this.#units = new Uint16Array(units.length);
    this.#source = source && { from: source.from.slice(), to: source.to.slice() };
  }

  replace(start: number, end: number, code?: number): void {
    this.#copyTo(start);
    if (code !== undefined) {
      const isPair = code > 0xff_ff;
      if (isPair) this.#push(0xd8_00 + ((code - 0x1_00_00) >> 10), start, end);
      this.#push(isPair ? 0xdc_00 + ((code - 0x1_00_00) & 0x3_ff) : code, start, end);
    }
    this.#done = end;
  }

  #copyTo(end: number): void {
    const { units, source } = this.#before;
    this.#units.set(units.subarray(this.#done, end), this.#length);
    if (source && this.#source) {
      this.#source.from.set(source.from.subarray(this.#done, end), this.#length);
      this.#source.to.set(source.to.subarray(this.#done, end), this.#length);
    }
    this.#length += end - this.#done;
  }

  #push(unit: number, start: number, end: number): void {
    const { source } = this.#before;
    if (source && this.#source) {
      this.#source.from[this.#length] = source.from[start]!;
      this.#source.to[this.#length] = source.to[end - 1]!;
    }
    this.#units[this.#length++] = unit;
  }

  finish(): Reading {
    this.#copyTo(this.#before.units.length);
    const units = this.#units.subarray(0, this.#length);
    if (!this.#source) return { units };
    const { from, to } = this.#source;
    const source = { from: from.subarray(0, this.#length), to: to.subarray(0, this.#length) };
    return { units, source };
  }
}

/** The kind of each unit, cached because Unicode property lookups are slow. */
const kinds = new Uint8Array(0x1_00_00);
const VISIBLE = 1;
const SPACE = 2;
const INVISIBLE = 3;
const WORD = 4;

function kindOf(unit: number): number {
  const kind = kinds[unit]!;
  return kind === 0 ? (kinds[unit] = lookUp(String.fromCharCode(unit))) : kind;
}

function lookUp(char: string): number {
  if (/[\s\p{Z}]/u.test(char)) return SPACE;
  if (/[\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/u.test(char)) return INVISIBLE;
  return /[\p{L}\p{N}_]/u.test(char) ? WORD : VISIBLE;
}

export const isSpace = (unit: number): boolean => kindOf(unit) === SPACE;
export const isWord = (unit: number | undefined): boolean =>
  unit !== undefined && kindOf(unit) === WORD;

/** Length of the invisible character at a position; 0 if it is visible. */
function invisibleAt(units: Uint16Array, at: number): number {
  const unit = units[at]!;
  if (isPair(units[at - 1], unit)) return 0; // the second half of a visible character
  const next = units[at + 1];
  if (next === undefined || !isPair(unit, next)) return 1;
  return lookUp(String.fromCharCode(unit, next)) === INVISIBLE ? 2 : 0;
}

const isPair = (high: number | undefined, low: number): boolean =>
  high !== undefined && (high & 0xfc_00) === 0xd8_00 && (low & 0xfc_00) === 0xdc_00;
