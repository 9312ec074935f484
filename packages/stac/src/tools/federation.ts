import { isRetryable, raise, toolError } from '@toolkeel/contract';
import type { Clock } from '@toolkeel/kernel';
import {
  describeFailure,
  oneLine,
  toolErrorOf,
  type CallContext,
  type JsonObject,
} from '@toolkeel/pack-kit';
import { CatalogCall } from '../api/catalog-call.js';
import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import { fitsToken, type Cursor, type FederatedCursor } from '../search/cursor.js';
import type { FetchedList } from '../search/page-buffer.js';
import { isInOrder, type Order } from '../search/sort.js';

/** The share of the call's time after which late catalogues are no longer awaited. */
const WAIT_SHARE = 0.8;

/** The search of one of several catalogues, and where its list continues. */
export interface CatalogSearch {
  readonly catalog: Catalog;
  readonly cursor: Cursor | undefined;
}

/** All catalogues from the start, or those in the cursor from their position. */
export function resumeSearches(
  catalogs: readonly Catalog[],
  from: FederatedCursor | undefined,
): readonly CatalogSearch[] {
  if (!from) return catalogs.map((catalog) => ({ catalog, cursor: undefined }));
  return from.at.flatMap(({ catalog: name, cursor }) => {
    const catalog = catalogs.find((candidate) => candidate.name === name);
    return catalog ? [{ catalog, cursor }] : [];
  });
}

/** Searches all catalogues concurrently. Late ones do not delay the others. */
export async function searchAll<T>(
  client: Client,
  searches: readonly CatalogSearch[],
  context: CallContext,
  run: (call: CatalogCall, cursor: Cursor | undefined) => Promise<T>,
): Promise<readonly Settled<T>[]> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const waitBudgetMs = (context.deadline - client.now()) * WAIT_SHARE;
  const running = searches.map(({ catalog, cursor }) =>
    run(new CatalogCall(client, catalog, { ...context, signal }), cursor),
  );
  const settled = await settleAll(running, waitBudgetMs, client.clock);
  stop.abort(new Error('late'));
  context.signal.throwIfAborted();
  return settled;
}

export type Settled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly cause: unknown }
  | { readonly ok: 'late' };

/**
 * Waits for all tasks. After the wait budget, one success is enough: tasks still in flight are then
 * `late`. Without a success it waits until all have failed.
 */
export function settleAll<T>(
  tasks: readonly Promise<T>[],
  waitBudgetMs: number,
  clock: Clock,
): Promise<readonly Settled<T>[]> {
  return new Promise((resolve) => {
    const results: Settled<T>[] = tasks.map(() => ({ ok: 'late' }));
    let pending = tasks.length;
    let isLate = false;
    const check = (): void => {
      const isEnough = isLate && results.some(({ ok }) => ok === true);
      if (pending > 0 && !isEnough) return;
      clock.clearTimer(timer);
      resolve([...results]);
    };
    const timer = clock.setTimer(Math.max(0, waitBudgetMs), () => {
      isLate = true;
      check();
    });
    const settle = (index: number, result: Settled<T>): void => {
      results[index] = result;
      pending--;
      check();
    };
    tasks.forEach((task, index) => {
      task.then(
        (value) => settle(index, { ok: true, value }),
        (cause: unknown) => settle(index, { ok: false, cause }),
      );
    });
    if (pending === 0) check();
  });
}

interface MergedItem {
  readonly item: JsonObject;
  /** The index of the search that found the item. */
  readonly search: number;
}

/** Merges the lists by order. Each list keeps its own order, so that its cursor stays valid. */
export function mergedItems(
  settled: readonly Settled<FetchedList>[],
  order: Order,
): readonly MergedItem[] {
  const lists = settled.map((result, search) => {
    const items = result.ok === true ? result.value.items : [];
    return items.map((item) => ({ item, search }));
  });
  const positions = lists.map(() => 0);
  const merged: MergedItem[] = [];
  for (;;) {
    const candidates = lists.flatMap((list, search) => list[positions[search]!] ?? []);
    const [first, ...others] = candidates;
    if (!first) return merged;
    const next = others.reduce((a, b) => (order(b.item, a.item) < 0 ? b : a), first);
    merged.push(next);
    positions[next.search]!++;
  }
}

/** Continues each catalogue after its delivered items; a failed catalogue is not continued. */
export function cursorFor(
  searches: readonly CatalogSearch[],
  settled: readonly Settled<FetchedList>[],
  delivered: readonly MergedItem[],
): FederatedCursor {
  const at = searches.flatMap(({ catalog }, search) => {
    const result = settled[search];
    if (result?.ok !== true) return [];
    const { items, next, after } = result.value;
    const kept = delivered.filter((item) => item.search === search).length;
    const cursor = kept < items.length ? after(kept) : next;
    return cursor ? [{ catalog: catalog.name, cursor }] : [];
  });
  return { at: at.filter((_, index) => fitsToken(at.slice(0, index + 1))) };
}

const NOT_IN_ORDER =
  'The catalogue returned its items in another order; they keep that order among themselves.';
const LATE = {
  code: 'timeout',
  message: 'The catalogue did not respond in time; the others did.',
  retryable: true,
};
const UNEXPECTED = { code: 'internal_error', message: 'The search failed.', retryable: false };

/** The report on one catalogue. */
export function reportFor(
  { name }: Catalog,
  result: Settled<FetchedList & { readonly matched?: number | null }>,
  order: Order,
) {
  if (result.ok === true) {
    const { matched, items } = result.value;
    const warnings = [...result.value.warnings, ...(isInOrder(items, order) ? [] : [NOT_IN_ORDER])];
    return { catalog: name, ok: true, matched: matched ?? null, warnings };
  }
  const error = result.ok === 'late' ? LATE : (describeFailure(result.cause) ?? UNEXPECTED);
  return { catalog: name, ok: false, matched: null, warnings: [], error };
}

const MAX_REASON_LENGTH = 160;

/** Fails the call if every catalogue failed. The error names each reason; a retryable code wins. */
export function throwIfAllFailed(
  searches: readonly CatalogSearch[],
  settled: readonly Settled<unknown>[],
): void {
  const failed = settled.flatMap((result, index) =>
    result.ok === false ? [{ name: searches[index]!.catalog.name, cause: result.cause }] : [],
  );
  const [first] = failed;
  if (first === undefined || settled.some(({ ok }) => ok === true)) return;
  const errors = failed.map(({ cause }) => toolErrorOf(cause));
  const unexpected = failed[errors.indexOf(undefined)];
  if (failed.length === 1 || unexpected) throw (unexpected ?? first).cause;
  const inputs = errors.flatMap((error) => error?.input ?? []);
  const reported = inputs.find(({ code }) => isRetryable(code)) ?? inputs[0]!;
  const reasons = inputs.map(
    ({ code, message }, index) =>
      `${failed[index]!.name}: ${code} (${oneLine(message, MAX_REASON_LENGTH)})`,
  );
  const message = `All ${failed.length} catalogues failed. ${reasons.join('; ')}`;
  raise(toolError(reported.code, message, reported));
}
