import { canonicalJson } from '@toolkeel/contract';
import type { JsonObject } from '@toolkeel/pack-kit';
import { fitsToken, type Cursor } from './cursor.js';

/** A fetched list. A result may have room for only a part of it. */
export interface FetchedList {
  readonly items: readonly JsonObject[];
  readonly warnings: readonly string[];
  /** Whether the list ends although there may be more items. */
  readonly endsEarly?: boolean;
  /** Continues after all of these items. */
  readonly next?: Cursor | undefined;
  /** Continues after the first `kept` of these items. */
  readonly after: (kept: number) => Cursor;
}

interface BufferEntry<List> {
  readonly list: List;
  /** Items of the list that earlier results contained. */
  readonly from: number;
  readonly storedAt: number;
}

const TTL_MS = 600_000;
const MAX_ENTRIES = 128;
/** In characters of JSON. Entries of the same list share its items. */
const MAX_TOTAL_SIZE = 16 * 1024 * 1024;

export const TOKEN_TOO_LONG =
  'There is more, but the next link of the catalogue is too long for a page token.';

/**
 * Buffers fetched items that did not fit into a result, so that the next page of the same query needs
 * no upstream request. Cursors do not depend on the buffer: in another process or after eviction, the
 * request in the cursor is sent again.
 */
export class PageBuffer<List extends FetchedList> {
  readonly #now: () => number;
  readonly #entries = new Map<string, BufferEntry<List>>();
  readonly #sizes = new WeakMap<readonly JsonObject[], number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** At most `limit` items of a list: buffered ones, else those that `load` fetches. */
  async page(
    query: unknown,
    { limit, cursor }: { readonly limit: number; readonly cursor?: Cursor | undefined },
    load: () => Promise<List>,
  ): Promise<List> {
    const prefix = JSON.stringify(query);
    const stored = cursor && this.#find(`${prefix} ${canonicalJson(cursor)}`);
    const list = stored?.list ?? (await load());
    const from = stored?.from ?? 0;
    const { items } = list;
    const after = (kept: number): Cursor => {
      const position = from + kept;
      const continuation = list.after(position);
      if (position < items.length) {
        const entry = { list, from: position, storedAt: this.#now() };
        this.#store(`${prefix} ${canonicalJson(continuation)}`, entry);
      }
      return continuation;
    };
    const shown = { ...list, items: items.slice(from, from + limit), after };
    if (from + limit >= items.length) return shown;
    const next = after(limit);
    if (fitsToken(next)) return { ...shown, next };
    return {
      ...shown,
      next: undefined,
      warnings: [...list.warnings, TOKEN_TOO_LONG],
      endsEarly: true,
    };
  }

  #find(key: string): BufferEntry<List> | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#now() - entry.storedAt < TTL_MS ? entry : undefined;
  }

  #store(key: string, entry: BufferEntry<List>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#totalSize() <= MAX_TOTAL_SIZE) return;
      this.#entries.delete(oldest);
    }
  }

  #totalSize(): number {
    const lists = new Set([...this.#entries.values()].map(({ list }) => list.items));
    return [...lists].reduce((total, items) => total + this.#sizeOf(items), 0);
  }

  #sizeOf(items: readonly JsonObject[]): number {
    const size = this.#sizes.get(items) ?? JSON.stringify(items).length;
    this.#sizes.set(items, size);
    return size;
  }
}
