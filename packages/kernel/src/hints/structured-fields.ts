/** An item of a structured field (RFC 9651) with its parameters. */
export interface Item {
  readonly value: BareItem;
  readonly params: ReadonlyMap<string, BareItem>;
}

const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const SPACES = / */y;
const OPTIONAL_SPACE = /[ \t]*/y;
const MAX_CHARS = 2048;

const TRUE = { type: 'boolean', value: true } as const;

/**
 * Parses a list of items; undefined if any part is malformed, as the RFC requires. Inner lists are not
 * supported, because no rate-limit field has them.
 */
export function parseItemList(text: string): Item[] | undefined {
  const items: Item[] = [];
  const complete = eachMember(text, (cursor) => {
    const item = takeItem(cursor);
    if (item) items.push(item);
    return item !== undefined;
  });
  return complete ? items : undefined;
}

/** Parses a dictionary of items: "limit=100, remaining=50, reset=5". */
export function parseDictionary(text: string): Map<string, Item> | undefined {
  const members = new Map<string, Item>();
  const complete = eachMember(text, (cursor) => {
    const key = take(cursor, KEY);
    if (key === undefined) return false;
    const value = takeIf(cursor, '=') ? takeBareItem(cursor) : TRUE;
    const params = value && takeParams(cursor);
    if (params) members.set(key, { value, params });
    return params !== undefined;
  });
  return complete ? members : undefined;
}

/** Parses comma-separated members; false if one of them or a separator is malformed. */
function eachMember(text: string, takeMember: (cursor: Cursor) => boolean): boolean {
  if (text.length > MAX_CHARS) return false;
  const cursor: Cursor = { text, at: 0 };
  take(cursor, SPACES);
  if (cursor.at === text.length) return true;
  for (;;) {
    if (!takeMember(cursor)) return false;
    take(cursor, OPTIONAL_SPACE);
    if (cursor.at === text.length) return true;
    if (!takeIf(cursor, ',')) return false;
    take(cursor, OPTIONAL_SPACE);
  }
}

function takeItem(cursor: Cursor): Item | undefined {
  const value = takeBareItem(cursor);
  const params = value && takeParams(cursor);
  return params && { value, params };
}

function takeParams(cursor: Cursor): Map<string, BareItem> | undefined {
  const params = new Map<string, BareItem>();
  while (takeIf(cursor, ';')) {
    take(cursor, SPACES);
    const key = take(cursor, KEY);
    const value = key !== undefined && takeIf(cursor, '=') ? takeBareItem(cursor) : TRUE;
    if (key === undefined || value === undefined) return undefined;
    // The last value of a repeated key wins.
    params.set(key, value);
  }
  return params;
}

function takeIf(cursor: Cursor, char: string): boolean {
  if (cursor.text[cursor.at] !== char) return false;
  cursor.at++;
  return true;
}

/** A bare item of RFC 9651. Byte sequences and display strings stay encoded. */
export type BareItem =
  | { readonly type: 'integer' | 'decimal' | 'date'; readonly value: number }
  | { readonly type: 'string' | 'token' | 'bytes' | 'display'; readonly value: string }
  | { readonly type: 'boolean'; readonly value: boolean };

interface Cursor {
  readonly text: string;
  at: number;
}

/** Consumes the match of a sticky pattern at the cursor. */
function take(cursor: Cursor, sticky: RegExp): string | undefined {
  sticky.lastIndex = cursor.at;
  const match = sticky.exec(cursor.text);
  if (!match) return undefined;
  cursor.at = sticky.lastIndex;
  return match[0];
}

const INTEGER = /-?\d{1,15}(?![\d.])/y;
const DECIMAL = /-?\d{1,12}\.\d{1,3}(?![\d.])/y;
const STRING = /"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/y;
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const BYTES = /:[A-Za-z0-9+/]*={0,2}:/y;
const BOOLEAN = /\?[01]/y;
const DATE = /@-?\d{1,15}(?![\d.])/y;
const DISPLAY = /%"(?:[\x20-\x21\x23-\x24\x26-\x7e]|%[0-9a-f]{2})*"/y;

/** Consumes one bare item; undefined if it is malformed. */
function takeBareItem(cursor: Cursor): BareItem | undefined {
  const first = cursor.text[cursor.at];
  if (first === undefined) return undefined;
  switch (first) {
    case '"':
      return text('string', take(cursor, STRING)?.slice(1, -1).replaceAll(/\\(.)/g, '$1'));
    case ':':
      return text('bytes', take(cursor, BYTES)?.slice(1, -1));
    case '%':
      return text('display', take(cursor, DISPLAY)?.slice(2, -1));
    case '?': {
      const flag = take(cursor, BOOLEAN);
      return flag === undefined ? undefined : { type: 'boolean', value: flag === '?1' };
    }
    case '@':
      return number('date', take(cursor, DATE)?.slice(1));
    default: {
      const token = text('token', take(cursor, TOKEN));
      const integer = token ?? number('integer', take(cursor, INTEGER));
      return integer ?? number('decimal', take(cursor, DECIMAL));
    }
  }
}

function text(
  type: 'string' | 'token' | 'bytes' | 'display',
  value: string | undefined,
): BareItem | undefined {
  return value === undefined ? undefined : { type, value };
}

function number(
  type: 'integer' | 'decimal' | 'date',
  digits: string | undefined,
): BareItem | undefined {
  // "-0" is valid, and is 0.
  return digits === undefined ? undefined : { type, value: Number(digits) + 0 };
}
