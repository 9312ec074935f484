import { hash } from '../../random/random.js';
import { invalid } from '../problem/problem.js';
import { compareIds } from '../world/snowflake.js';

/** A place in a list that is in the order of ids, the greatest first. */
export interface Place {
  readonly direction: 'next' | 'prev';
  /** Behind or before this id; at the beginning if it is empty. */
  readonly at: string;
  /** Makes two tokens for the same place differ. */
  readonly nonce?: number;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: Place | undefined;
  readonly previous: Place | undefined;
}

/** Tokens look like letters and digits, and are good for the list that they are from. */
export function tokenOf({ direction, at, nonce = 0 }: Place, scope: string): string {
  const text = `${direction[0] ?? ''}.${at}.${nonce}`;
  return Buffer.from(text).toString('hex') + checksum(text, scope);
}

export function placeFrom(token: string, parameter: string, scope: string): Place {
  const text = Buffer.from(token.slice(0, -8), 'hex').toString();
  const [, direction, at = '', nonce = ''] = /^([np])\.(\d*)\.(\d+)$/.exec(text) ?? [];
  if (direction === undefined || token.slice(-8) !== checksum(text, scope))
    throw invalid(`The \`${parameter}\` query parameter value [${token}] is not valid`, {
      [parameter]: [token],
    });
  return { direction: direction === 'n' ? 'next' : 'prev', at, nonce: Number(nonce) };
}

function checksum(text: string, scope: string): string {
  return hash('page', scope, text).toString(16).padStart(8, '0');
}

/** A part of a list, and where the parts before and behind it are. */
export function pageOf<Item extends { readonly id: string }>(
  all: readonly Item[],
  size: number,
  place: Place | undefined,
): Page<Item> {
  const { direction, at } = place ?? { direction: 'next', at: '' };
  const behind = (item: Item): boolean => at === '' || compareIds(item.id, at) < 0;
  const before = (item: Item): boolean => at !== '' && compareIds(item.id, at) > 0;
  const items =
    direction === 'next' ? all.filter(behind).slice(0, size) : all.filter(before).slice(-size);
  const [first, last] = [items[0], items.at(-1)];
  const more = last && all.some((item) => compareIds(item.id, last.id) < 0);
  const earlier = first && all.some((item) => compareIds(item.id, first.id) > 0);
  return {
    items,
    next: more ? { direction: 'next', at: last.id } : undefined,
    previous: earlier ? { direction: 'prev', at: first.id } : undefined,
  };
}
