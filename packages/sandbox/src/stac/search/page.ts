import { badParameter } from '../api/problem.js';
import type { Scene } from '../catalogue/scene.js';
import type { Traits } from '../flavour/traits.js';
import { cursorAt, type Cursor } from './cursor.js';

export interface Page {
  readonly scenes: readonly Scene[];
  readonly next?: Cursor;
  readonly previous?: Cursor;
}

/** The part of the results that a cursor points to, and the cursors to its neighbours. */
export function pageOf(
  results: readonly Scene[],
  cursor: Cursor | undefined,
  limit: number,
  traits: Traits,
): Page {
  const from = startOf(results, cursor, limit, traits);
  const until = cursor?.direction === 'prev' ? positionOf(results, cursor, traits) : from + limit;
  const scenes = results.slice(from, until);
  const [first, last] = [scenes[0], scenes.at(-1)];
  const more = traits.endsWithEmptyPage ? scenes.length > 0 : until < results.length;
  const next = traits.pageParameter === 'page' ? pageAfter(cursor) : last && cursorAt('next', last);
  const hasPrevious = traits.previousPage !== undefined && from > 0 && first !== undefined;
  return {
    scenes,
    ...(more && next && { next }),
    ...(hasPrevious && { previous: cursorAt('prev', first) }),
  };
}

function pageAfter(cursor: Cursor | undefined): Cursor {
  return { direction: 'next', page: (cursor?.page ?? 1) + 1 };
}

function startOf(
  results: readonly Scene[],
  cursor: Cursor | undefined,
  limit: number,
  traits: Traits,
): number {
  if (cursor?.page !== undefined) return (cursor.page - 1) * limit;
  if (!cursor?.scene) return 0;
  const position = positionOf(results, cursor, traits);
  return cursor.direction === 'prev' ? Math.max(0, position - limit) : position + 1;
}

function positionOf(results: readonly Scene[], { scene }: Cursor, traits: Traits): number {
  const position = results.findIndex(
    ({ collection, id }) => id === scene?.[1] && collection === scene[0],
  );
  if (position < 0) throw badParameter(traits.pageParameter, 'does not belong to this search');
  return position;
}
