import { page } from '@toolkeel/contract';
import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import type { Doc } from '../json.js';
import { within, type CallContext } from '../call-context.js';
import { invalid, readCriteria } from '../search/criteria.js';
import { fitsToken, type Cursor, type FederatedCursor } from '../search/cursor.js';
import { isInOrder, orderOf, type Order } from '../search/sort.js';
import type { FetchedList } from '../search/leftovers.js';
import { searchItems } from '../search/search.js';
import { catalogTool, failureOf, throwIfAllFailed } from './tool.js';
import { shownItem } from './search-items.js';
import { searchFederatedSpec } from './specs/search.js';
import type { Clock } from '@toolkeel/kernel';

const MAX_CATALOGS = 8;
/** The share of the call's time after which the answer no longer waits for late catalogues. */
const WAIT_SHARE = 0.8;

/** One of several catalogues, and where its list continues. */
interface Part {
  readonly catalog: Catalog;
  readonly cursor: Cursor | undefined;
}

export const searchFederated = (client: Client) =>
  catalogTool(searchFederatedSpec, client, async (args, { scope, cursor: from }) => {
    const criteria = readCriteria(args);
    const parts = partsOf(client, args.catalogs, from);
    const settled = await askAll(client, parts, scope, ({ catalog, cursor }, partScope) =>
      searchItems(client, catalog, criteria, { limit: args.limit, cursor }, partScope),
    );
    throwIfAllFailed(parts, settled);

    const order = orderOf(criteria.sortby);
    const merged = mergedItems(parts, settled, order);
    const data = {
      items: merged.map(({ item, part }) => ({
        ...shownItem(item, args.output_format, criteria.fields),
        catalog: parts[part]!.catalog.name,
      })),
      catalogs: parts.map(({ catalog }, index) => reportOf(catalog, settled[index]!, order)),
    };
    const cursorAfter = (kept: number) => cursorFor(parts, settled, merged.slice(0, kept));
    const next = cursorAfter(merged.length);
    return page(data, { next: next.at.length > 0 ? next : undefined, after: cursorAfter });
  });

function partsOf(
  client: Client,
  wanted: readonly string[] | undefined,
  from: FederatedCursor | undefined,
): readonly Part[] {
  const names = [...new Set(wanted ?? client.catalogs.names)];
  if (names.length > MAX_CATALOGS) invalid('catalogs', `names more than ${MAX_CATALOGS}`);
  const isUrl = (name: string) => /^https?:/i.test(name);
  const catalogs = names.map((name) =>
    isUrl(name) && URL.canParse(name) ? client.catalogs.byUrl(name) : client.catalogs.byName(name),
  );
  return continued(catalogs, from);
}

/** Runs one search per catalogue at the same time. Those that answer late do not delay the others. */
export async function askAll<T>(
  client: Client,
  parts: readonly Part[],
  scope: CallContext,
  search: (part: Part, scope: CallContext) => Promise<T>,
): Promise<readonly Settled<T>[]> {
  const ending = new AbortController();
  const signal = AbortSignal.any([scope.signal, ending.signal]);
  const waitMs = (scope.deadline - client.now()) * WAIT_SHARE;
  const searches = parts.map((part) => search(part, within(scope, { signal })));
  const settled = await gather(searches, waitMs, client.clock);
  ending.abort(new Error('late'));
  scope.signal.throwIfAborted();
  return settled;
}

/** All catalogues from their beginning, or those that the cursor names from where they were. */
export function continued(
  catalogs: readonly Catalog[],
  from: FederatedCursor | undefined,
): readonly Part[] {
  if (!from) return catalogs.map((catalog) => ({ catalog, cursor: undefined }));
  return from.at.flatMap(({ catalog: name, cursor: at }) => {
    const catalog = catalogs.find((one) => one.name === name);
    return catalog ? [{ catalog, cursor: at }] : [];
  });
}

interface Merged {
  readonly item: Doc;
  /** Which catalogue it came from, and its place among that one's items. */
  readonly part: number;
  readonly index: number;
}

/** In order. The items of one catalogue keep their own, so that each can go on where it was. */
export function mergedItems(
  parts: readonly Part[],
  settled: readonly Settled<FetchedList>[],
  order: Order,
): readonly Merged[] {
  const queues = parts.map((_, part) => {
    const result = settled[part];
    const items = result?.ok === true ? result.value.items : [];
    return items.map((item, index) => ({ item, part, index }));
  });
  const heads = queues.map(() => 0);
  const merged: Merged[] = [];
  for (;;) {
    const fronts = queues.flatMap((queue, part) => queue[heads[part]!] ?? []);
    const [first, ...others] = fronts;
    if (!first) return merged;
    const next = others.reduce((a, b) => (order(b.item, a.item) < 0 ? b : a), first);
    merged.push(next);
    heads[next.part]!++;
  }
}

/** Each catalogue goes on after what was given of it; one that failed does not. */
export function cursorFor(
  parts: readonly Part[],
  settled: readonly Settled<FetchedList>[],
  given: readonly Merged[],
): FederatedCursor {
  const at = parts.flatMap(({ catalog }, part) => {
    const result = settled[part];
    if (result?.ok !== true) return [];
    const { items, next, after } = result.value;
    const kept = given.filter((one) => one.part === part).length;
    const onward = kept < items.length ? after(kept) : next;
    return onward ? [{ catalog: catalog.name, cursor: onward }] : [];
  });
  const fitting = at.filter((_, index) => fitsToken(at.slice(0, index + 1)));
  return { at: fitting };
}

const OWN_ORDER =
  'The catalogue did not give its items in this order; among themselves they keep its own.';

export function reportOf(
  { name }: Catalog,
  result: Settled<FetchedList & { readonly matched?: number | null }>,
  order: Order,
) {
  if (result.ok === true) {
    const { matched, items } = result.value;
    const warnings = [...result.value.warnings, ...(isInOrder(items, order) ? [] : [OWN_ORDER])];
    return { catalog: name, ok: true, matched: matched ?? null, warnings };
  }
  const late = {
    code: 'timeout',
    message: 'The catalogue had not answered when the others had.',
    retryable: true,
  };
  const unforeseen = { code: 'internal_error', message: 'The search failed.', retryable: false };
  const error = result.ok === 'late' ? late : (failureOf(result.cause) ?? unforeseen);
  return { catalog: name, ok: false, matched: null, warnings: [], error };
}

export type Settled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly cause: unknown }
  | { readonly ok: 'late' };

/**
 * Waits for all, but not for stragglers: once `patienceMs` have passed, the first success ends the
 * wait, and what is still under way is `late`. Without any success it waits to the end, so that a
 * failure comes neither early nor with a reason of its own.
 */
export function gather<T>(
  tasks: readonly Promise<T>[],
  patienceMs: number,
  clock: Clock,
): Promise<readonly Settled<T>[]> {
  return new Promise((resolve) => {
    const results: Settled<T>[] = tasks.map(() => ({ ok: 'late' }));
    let left = tasks.length;
    let isLate = false;
    const check = (): void => {
      const isEnough = isLate && results.some(({ ok }) => ok === true);
      if (left > 0 && !isEnough) return;
      clock.clearTimer(timer);
      resolve([...results]);
    };
    const timer = clock.setTimer(Math.max(0, patienceMs), () => {
      isLate = true;
      check();
    });
    const settle = (index: number, result: Settled<T>): void => {
      results[index] = result;
      left--;
      check();
    };
    tasks.forEach((task, index) => {
      task.then(
        (value) => settle(index, { ok: true, value }),
        (cause: unknown) => settle(index, { ok: false, cause }),
      );
    });
    if (left === 0) check();
  });
}
