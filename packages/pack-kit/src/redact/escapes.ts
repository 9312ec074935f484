import { entitiesWithoutSemicolon, namedEntities } from './named-entities.js';

/** One escape sequence: the code point that it stands for, and where it ends. */
export interface Escape {
  /** -1 if there is none: the characters up to `end` stand for themselves. */
  code: number;
  end: number;
}

type Units = Uint16Array;

const PERCENT = 0x25;
const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;
const HASH = 0x23;
const SEMICOLON = 0x3b;
const MAX_CODE = 0x10_ff_ff;
const MAX_ENTITY_NAME = 24;

export const startsEscape = (unit: number): boolean =>
  unit === PERCENT || unit === AMPERSAND || unit === BACKSLASH;

/**
 * Reads the escape sequence at `at`: percent-encoding, an HTML character reference, or a JSON or
 * JavaScript escape. Writes into `found` instead of allocating. Characters of a failed attempt are not
 * read again, so hostile input takes linear time.
 */
export function readEscape(units: Units, at: number, found: Escape): void {
  found.code = -1;
  found.end = at + 1;
  if (units[at] === PERCENT) readPercent(units, at, found);
  else if (units[at] === AMPERSAND) readEntity(units, at, found);
  else readBackslashes(units, at, found);
}

/** `%2F`, a UTF-8 sequence such as `%C3%A9`, or JavaScript's legacy `%u002F`. */
function readPercent(units: Units, at: number, found: Escape): void {
  if (lower(units[at + 1]) === 0x75 /* u */) {
    accept(found, hex(units, at + 2, 4), at + 6);
    return;
  }
  const first = hex(units, at + 1, 2);
  if (first < 0x80) {
    accept(found, first, at + 3);
    return;
  }
  const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  if (more === 0) return;
  let code = first & (0x3f >> more);
  for (let index = 1; index <= more; index++) {
    const next = units[at + 3 * index] === PERCENT ? hex(units, at + 3 * index + 1, 2) : -1;
    if ((next & 0xc0) !== 0x80) return;
    code = (code << 6) | (next & 0x3f);
  }
  accept(found, code, at + 3 * (more + 1));
}

/** `&#47;`, `&#x2F;` or `&sol;`. */
function readEntity(units: Units, at: number, found: Escape): void {
  if (units[at + 1] !== HASH) {
    readNamedEntity(units, at, found);
    return;
  }
  const isHex = lower(units[at + 2]) === 0x78; /* x */
  const base = isHex ? 16 : 10;
  const first = at + (isHex ? 3 : 2);
  let end = first;
  let code = 0;
  for (let digit = digitOf(units[end]); digit < base; digit = digitOf(units[++end])) {
    code = Math.min(code * base + digit, MAX_CODE + 1);
  }
  if (end > first) accept(found, code, end + (units[end] === SEMICOLON ? 1 : 0));
}

function readNamedEntity(units: Units, at: number, found: Escape): void {
  let name = '';
  for (let index = at + 1; name.length < MAX_ENTITY_NAME; index++) {
    const unit = lower(units[index]);
    if (unit < 0x61 || unit > 0x7a) break;
    name += String.fromCharCode(unit);
  }
  const code = namedEntities.get(name);
  const end = at + 1 + name.length;
  if (code !== undefined && units[end] === SEMICOLON) {
    accept(found, code, end + 1);
    return;
  }
  const short = entitiesWithoutSemicolon.find((entity) => name.startsWith(entity));
  if (short !== undefined) accept(found, namedEntities.get(short)!, at + 1 + short.length);
}

const SHORT_ESCAPES: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', "'": "'", '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, text]) => [letter.charCodeAt(0), text.charCodeAt(0)],
  ),
);

/** `\u002f`, `\u{2f}`, `\x2f`, `\/`, with any number of backslashes: each JSON layer doubles them. */
function readBackslashes(units: Units, at: number, found: Escape): void {
  let last = at;
  while (units[last + 1] === BACKSLASH) last++;
  found.end = last + 1;
  const letter = units[last + 1];
  if (letter === 0x75 /* u */ && units[last + 2] === 0x7b /* { */) {
    for (let end = last + 3; end <= last + 9; end++) {
      if (units[end] !== 0x7d /* } */) continue;
      accept(found, hex(units, last + 3, end - last - 3), end + 1);
      return;
    }
  } else if (letter === 0x75 /* u */) accept(found, hex(units, last + 2, 4), last + 6);
  else if (letter === 0x78 /* x */) accept(found, hex(units, last + 2, 2), last + 4);
  else {
    // Several backslashes count as one, so that a credential with a backslash is found in JSON.
    const code = SHORT_ESCAPES.get(letter ?? 0) ?? (last > at ? BACKSLASH : -1);
    accept(found, code, SHORT_ESCAPES.has(letter ?? 0) ? last + 2 : last + 1);
  }
}

function accept(found: Escape, code: number, end: number): void {
  if (code < 0 || code > MAX_CODE) return;
  found.code = code;
  found.end = end;
}

const lower = (unit: number | undefined): number => (unit ?? 0) | 0x20;

/** The value of a hexadecimal digit, 16 for any other character. */
function digitOf(unit: number | undefined): number {
  if (unit === undefined) return 16;
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 && unit < 0x80 ? letter - 0x57 : 16;
}

/** `count` hexadecimal digits as a number, -1 if any is missing. */
function hex(units: Units, at: number, count: number): number {
  let value = count === 0 ? -1 : 0;
  for (let index = at; index < at + count; index++) {
    const digit = digitOf(units[index]);
    if (digit === 16) return -1;
    value = value * 16 + digit;
  }
  return value;
}
