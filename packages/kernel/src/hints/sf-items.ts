/** A bare item of RFC 9651. Byte sequences and display strings are checked, but left encoded. */
export type BareItem =
  | { readonly type: 'integer' | 'decimal' | 'date'; readonly value: number }
  | { readonly type: 'string' | 'token' | 'bytes' | 'display'; readonly value: string }
  | { readonly type: 'boolean'; readonly value: boolean };

/** Where a parser stands in its text. */
export interface Cursor {
  readonly text: string;
  at: number;
}

/** Takes what a sticky pattern matches at the cursor. */
export function take(cursor: Cursor, sticky: RegExp): string | undefined {
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

/** Reads one bare item, or returns undefined where RFC 9651 says that parsing fails. */
export function takeBareItem(cursor: Cursor): BareItem | undefined {
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
