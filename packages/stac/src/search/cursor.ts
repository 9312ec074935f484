import { createHash } from 'node:crypto';
import { stringOf, type JsonObject } from '@toolkeel/pack-kit/base';
import * as z from 'zod';
import type { PageRequest } from './page.js';

/** Digests of earlier pages of a list, to detect repeated pages. Part of the page token. */
const trailSchema = z.strictObject({
  /** The number of pages so far. */
  pages: z.int().min(1),
  /** The digest of an earlier page, replaced whenever the number of pages has doubled. */
  anchor: z.string(),
  /** The digests of the most recent pages, newest last. */
  recent: z.array(z.string()),
});

export type PageTrail = Readonly<z.output<typeof trailSchema>>;

/**
 * Where a list continues: the request for a page and the number of delivered items. Parts that equal the
 * first request are omitted, because the token is used with the same arguments.
 */
export const cursorSchema = z.strictObject({
  /** The number of delivered items of the page. */
  skip: z.int().min(0).optional(),
  method: z.enum(['GET', 'POST']),
  /** With its query parameters, unless `params` has them. */
  url: z.string(),
  /** Name and value; the name only if the value equals that of the first request. */
  params: z.array(z.array(z.string())).optional(),
  /** The names of body members that equal those of the first request; `body` has the others. */
  same: z.array(z.string()).optional(),
  body: z.record(z.string(), z.unknown()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Digests of earlier requests, to detect loops. */
  seen: z.array(z.string()),
  /** To detect pages that repeat under another token. */
  trail: trailSchema.optional(),
  /** The number of consecutive empty pages, to detect endless lists. */
  empty: z.int().optional(),
});

export type Cursor = z.output<typeof cursorSchema>;

/** Where a list of several catalogues continues: one cursor for each catalogue that has more. */
export const federatedCursorSchema = z.strictObject({
  at: z.array(z.strictObject({ catalog: z.string(), cursor: cursorSchema })),
});

export type FederatedCursor = z.output<typeof federatedCursorSchema>;

/** Longer URLs are split into `params`, because tokens have a limited length. */
const LONG_URL = 600;
const MAX_SEEN = 12;

export function packCursor(
  request: PageRequest,
  first: PageRequest,
  progress: {
    readonly skip?: number;
    readonly seen: readonly string[];
    readonly trail?: PageTrail | undefined;
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

function packBody(body: JsonObject, first: JsonObject): Pick<Cursor, 'same' | 'body'> {
  const isSame = (name: string) => JSON.stringify(body[name]) === JSON.stringify(first[name]);
  const names = Object.keys(body);
  const changed = names.filter((name) => !isSame(name)).map((name) => [name, body[name]] as const);
  return { same: names.filter(isSame), body: Object.fromEntries(changed) };
}

/** The maximum cursor size; leaves room for the signature and encoding of the token. */
const MAX_CURSOR_BYTES = 5_600;

export function fitsToken(cursor: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(cursor)) <= MAX_CURSOR_BYTES;
}

const MAX_RECENT = 6;

/**
 * Whether a page occurred before, under any URL. Short loops are detected at once, longer ones when they
 * reach the anchor again.
 */
export function isRepeatedPage(
  entries: readonly JsonObject[],
  trail: PageTrail | undefined,
): boolean {
  if (!trail || entries.length === 0) return false;
  const digest = pageDigest(entries);
  return digest === trail.anchor || trail.recent.includes(digest);
}

/** Empty pages are not recorded, because a list may have several. */
export function appendToTrail(
  trail: PageTrail | undefined,
  entries: readonly JsonObject[],
): PageTrail | undefined {
  if (entries.length === 0) return trail;
  const digest = pageDigest(entries);
  if (!trail) return { pages: 1, anchor: digest, recent: [digest] };
  const pages = trail.pages + 1;
  const isPowerOfTwo = (pages & (pages - 1)) === 0;
  return {
    pages,
    anchor: isPowerOfTwo ? digest : trail.anchor,
    recent: [...trail.recent, digest].slice(-MAX_RECENT),
  };
}

/** Includes the collection, because item ids are unique within a collection only. */
function pageDigest(entries: readonly JsonObject[]): string {
  const names = entries.map(({ collection, id }) => [
    stringOf(collection) ?? '',
    stringOf(id) ?? '',
  ]);
  return createHash('sha256').update(JSON.stringify(names)).digest('base64url').slice(0, 8);
}
