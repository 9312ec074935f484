import * as z from 'zod';
import { badParameter } from '../api/http.js';
import type { Scene } from '../catalogue/scene.js';
import type { Traits } from '../flavours.js';

export interface Page {
  readonly scenes: readonly Scene[];
  readonly next?: Cursor;
}

/** A position in the results: after a scene, at the beginning, or a page number. */
export interface Cursor {
  readonly scene?: readonly [collection: string, id: string];
  readonly page?: number;
  /** Makes two cursors to the same position differ. */
  readonly nonce?: number;
}

/** The page that a cursor points to, and the cursor of the next one. */
export function pageOf(
  results: readonly Scene[],
  cursor: Cursor,
  limit: number,
  traits: Traits,
): Page {
  const from = startOf(results, cursor, limit, traits);
  const scenes = results.slice(from, from + limit);
  const last = scenes.at(-1);
  const more = traits.endsWithEmptyPage ? scenes.length > 0 : from + limit < results.length;
  if (!more || !last) return { scenes };
  const isNumbered = traits.pageParameter === 'page';
  return {
    scenes,
    next: isNumbered ? { page: (cursor.page ?? 1) + 1 } : { scene: [last.collection, last.id] },
  };
}

function startOf(
  results: readonly Scene[],
  { scene, page }: Cursor,
  limit: number,
  { pageParameter }: Traits,
): number {
  if (page !== undefined) return (page - 1) * limit;
  if (!scene) return 0;
  const position = results.findIndex(
    ({ collection, id }) => id === scene[1] && collection === scene[0],
  );
  if (position < 0) throw badParameter(pageParameter, 'does not belong to this search');
  return position + 1;
}

interface Codec {
  readonly encode: (cursor: Cursor) => string;
  readonly decode: (text: string) => Cursor | undefined;
}

/** PostgreSQL breaks base64 into lines of 76 characters, which clients must preserve. */
const inLines: Codec = {
  encode: (cursor) => {
    const text = JSON.stringify({ ...cursor, order: 'datetime desc, collection, id' });
    const base64 = Buffer.from(text).toString('base64');
    return `next:${base64.replaceAll(/.{76}(?=.)/g, '$&\n')}`;
  },
  decode: (text) => fromJson(Buffer.from(text.slice(5), 'base64').toString()),
};

const opaque: Codec = {
  encode: (cursor) => Buffer.from(JSON.stringify(cursor)).toString('base64url'),
  decode: (text) => fromJson(Buffer.from(text, 'base64url').toString()),
};

/** Elasticsearch cursors list the sort values. */
const readable: Codec = {
  encode: ({ scene: [collection, id] = ['', ''], nonce }) =>
    [id, collection, ...(nonce === undefined ? [] : [nonce])].join(','),
  decode: (text) => {
    const [id = '', collection, nonce] = text.split(',');
    if (collection === undefined) return undefined;
    return {
      ...(id !== '' && { scene: [collection, id] as const }),
      ...(nonce !== undefined && { nonce: Number(nonce) }),
    };
  },
};

const byPage: Codec = {
  encode: ({ page = 1 }) => String(page),
  decode: (text) => (/^[1-9]\d{0,6}$/.test(text) ? { page: Number(text) } : undefined),
};

function codecOf({ pageParameter, postPaging }: Traits): Codec {
  if (pageParameter === 'page') return byPage;
  if (pageParameter === 'next') return readable;
  return postPaging === 'whole-body' ? inLines : opaque;
}

export function encodeCursor(cursor: Cursor, traits: Traits): string {
  return codecOf(traits).encode(cursor);
}

export function decodeCursor(given: unknown, traits: Traits): Cursor {
  const cursor = typeof given === 'string' ? codecOf(traits).decode(given) : undefined;
  if (!cursor) throw badParameter(traits.pageParameter, 'is not one that this server gave out');
  return cursor;
}

const cursorSchema: z.ZodType<Cursor> = z.object({
  scene: z.exactOptional(z.tuple([z.string(), z.string()])),
  nonce: z.exactOptional(z.number()),
});

function fromJson(text: string): Cursor | undefined {
  try {
    return cursorSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
