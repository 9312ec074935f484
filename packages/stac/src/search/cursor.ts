import * as z from 'zod';
import { type Doc, textOf } from '../json.js';
import type { PageRequest } from './page.js';
import { createHash } from 'node:crypto';

/** What the pages of a list held, in short: it travels in a token from one call to the next. */
const trailSchema = z.strictObject({
  /** How many pages there were. */
  pages: z.int().min(1),
  /** One page far back, which moves up each time that the number of pages has doubled. */
  anchor: z.string(),
  /** The pages directly before, the newest last. */
  recent: z.array(z.string()),
});

export type Trail = Readonly<z.output<typeof trailSchema>>;

/**
 * Where a search goes on: the request for a page, and how much of that page was given out. What the
 * first request had too is left out, because the token comes back with the same arguments.
 */
export const cursorSchema = z.strictObject({
  /** Items of the page that are done with. */
  skip: z.int().min(0).optional(),
  method: z.enum(['GET', 'POST']),
  /** With its parameters, unless they stand in `params`. */
  url: z.string(),
  /** Name and value; the name alone where the first request had the same value. */
  params: z.array(z.array(z.string())).optional(),
  /** Members that the first body had too, by name, and the others. */
  same: z.array(z.string()).optional(),
  body: z.record(z.string(), z.unknown()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** The requests before this one, to notice a circle. */
  seen: z.array(z.string()),
  /** What the pages before held, to notice one that comes again under another token. */
  trail: trailSchema.optional(),
  /** How many pages before this one were empty, to notice a list that never ends. */
  empty: z.int().optional(),
});

export type Cursor = z.output<typeof cursorSchema>;

/** Where a list of several catalogues continues: those that have more, each with its own cursor. */
export const federatedCursorSchema = z.strictObject({
  at: z.array(z.strictObject({ catalog: z.string(), cursor: cursorSchema })),
});

export type FederatedCursor = z.output<typeof federatedCursorSchema>;

/** Longer URLs are taken apart: a token has a few thousand characters. */
const LONG_URL = 600;
const MAX_SEEN = 12;

export function packCursor(
  request: PageRequest,
  first: PageRequest,
  progress: {
    readonly skip?: number;
    readonly seen: readonly string[];
    readonly trail?: Trail | undefined;
    readonly empty?: number;
  },
): Cursor {
  const { skip, seen, trail, empty } = progress;
  return {
    ...(skip !== undefined && skip > 0 && { skip }),
    method: request.method,
    ...packUrl(request.url, first),
    ...(request.method === 'POST' && packBody(request.body ?? {}, first.body ?? {})),
    ...(request.headers && Object.keys(request.headers).length > 0 && { headers: request.headers }),
    seen: seen.slice(-MAX_SEEN),
    ...(trail && { trail }),
    ...(empty !== undefined && empty > 0 && { empty }),
  };
}

export function unpackCursor(cursor: Cursor, first: PageRequest): PageRequest {
  const { method, headers } = cursor;
  const url = new URL(cursor.url);
  for (const [name = '', value] of cursor.params ?? []) {
    url.searchParams.append(name, value ?? firstValue(first, name));
  }
  if (method === 'GET') return { method, url, headers };
  const same = (cursor.same ?? []).map((name) => [name, first.body?.[name]] as const);
  return { method, url, headers, body: { ...Object.fromEntries(same), ...cursor.body } };
}

function packUrl(url: URL, first: PageRequest): Pick<Cursor, 'url' | 'params'> {
  if (url.href.length <= LONG_URL) return { url: url.href };
  const params = [...url.searchParams].map(([name, value]) =>
    firstValue(first, name) === value ? [name] : [name, value],
  );
  const bare = new URL(url);
  bare.search = '';
  return { url: bare.href, params };
}

function firstValue({ url }: PageRequest, name: string): string {
  return url.searchParams.get(name) ?? '';
}

function packBody(body: Doc, first: Doc): Pick<Cursor, 'same' | 'body'> {
  const isSame = (name: string) => JSON.stringify(body[name]) === JSON.stringify(first[name]);
  const names = Object.keys(body);
  const changed = names.filter((name) => !isSame(name)).map((name) => [name, body[name]] as const);
  return { same: names.filter(isSame), body: Object.fromEntries(changed) };
}

/** What a token can carry with room to spare for its signature and encoding. */
const MAX_CURSOR_BYTES = 5_600;

export function fitsToken(cursor: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(cursor)) <= MAX_CURSOR_BYTES;
}

const MAX_RECENT = 6;

/**
 * Whether a page has come before, whatever its address was. Short circles are noticed at once. A
 * longer one is noticed because its pages come by the anchor again before the anchor moves on.
 */
export function isOnTrail(entries: readonly Doc[], trail: Trail | undefined): boolean {
  if (!trail || entries.length === 0) return false;
  const mark = markOf(entries);
  return mark === trail.anchor || trail.recent.includes(mark);
}

/** The trail with one page more. An empty page leaves none: a list may have gaps. */
export function further(trail: Trail | undefined, entries: readonly Doc[]): Trail | undefined {
  if (entries.length === 0) return trail;
  const mark = markOf(entries);
  if (!trail) return { pages: 1, anchor: mark, recent: [mark] };
  const pages = trail.pages + 1;
  const isPowerOfTwo = (pages & (pages - 1)) === 0;
  return {
    pages,
    anchor: isPowerOfTwo ? mark : trail.anchor,
    recent: [...trail.recent, mark].slice(-MAX_RECENT),
  };
}

/** An id names an item only inside its collection. */
function markOf(entries: readonly Doc[]): string {
  const names = entries.map((one) => [textOf(one['collection']) ?? '', textOf(one['id']) ?? '']);
  return createHash('sha256').update(JSON.stringify(names)).digest('base64url').slice(0, 8);
}
