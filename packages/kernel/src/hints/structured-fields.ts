import { take, takeBareItem, type BareItem, type Cursor } from './sf-items.js';

/** An item of a structured field (RFC 9651) with its parameters. */
export interface Item {
  readonly value: BareItem;
  readonly params: ReadonlyMap<string, BareItem>;
}

const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const SPACES = / */y;
const OPTIONAL_SPACE = /[ \t]*/y;
/** Far more than any limit field has; what an upstream may make us read. */
const MAX_CHARS = 2048;

const TRUE: BareItem = { type: 'boolean', value: true };

/**
 * A list of items. Strict as the RFC asks: one mistake anywhere and the whole field is ignored.
 * Inner lists are such a mistake here, because no field that we read has them.
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

/** A dictionary of items: "limit=100, remaining=50, reset=5". */
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

/** Walks comma-separated members; false as soon as one of them, or what is between, is malformed. */
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
    // A repeated key takes the last value.
    params.set(key, value);
  }
  return params;
}

function takeIf(cursor: Cursor, char: string): boolean {
  if (cursor.text[cursor.at] !== char) return false;
  cursor.at++;
  return true;
}
