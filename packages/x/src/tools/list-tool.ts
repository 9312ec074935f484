import { createHash } from 'node:crypto';
import {
  page,
  rateLimitMeta,
  type ErrorCode,
  type NoSchema,
  type ObjectSchema,
  type OutputOf,
  type Schema,
  type Tool,
  type ToolSpec,
} from '@toolkeel/contract';
import type { RateLimitInfo } from '@toolkeel/kernel';
import type { CallContext } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import type { PartialError } from '../model.js';
import type { PageQuery, PageResult } from '../api/provider.js';
import type { PriceName } from '../config.js';
import { itemCost } from '../cost.js';
import type { CursorSchema, ListName, PageCursor } from './specs/common.js';
import { xTool } from './tool.js';

interface Listing<Args, Item> {
  readonly items: ListName;
  /** The price of one item. */
  readonly price?: PriceName;
  /** The smallest page that X accepts. */
  readonly minimum?: number;
  readonly fetch: (args: Args, page: PageQuery, call: CallContext) => Promise<PageResult<Item>>;
  /** Formats an item for the response. */
  readonly show?: (item: Item) => Item;
}

/** A tool that pages through a list. */
export function listTool<
  In extends ObjectSchema,
  Out extends Schema,
  Code extends ErrorCode,
  Item extends { readonly id: string },
>(
  spec: ToolSpec<In, Out, Code, NoSchema, CursorSchema>,
  client: Client,
  { items, price, minimum = 1, fetch, show = (item) => item }: Listing<OutputOf<In>, Item>,
): Tool<In, Out> {
  const maxResults = (args: OutputOf<In>) => (args as { readonly max_results: number }).max_results;
  return xTool(
    spec,
    client,
    async (args, { call, cursor }) => {
      const wanted = { max_results: maxResults(args), minimum };
      const result = await fetchPage((query) => fetch(args, query, call), wanted, cursor);
      const { partialErrors, limits, next, after } = result;
      const data = { [items]: result.items.map(show), partial_errors: partialErrors };
      // The output schema names its list `items`, which the types cannot express.
      return page(data, { next, after, rateLimit: shortWindow(limits) }) as never;
    },
    price && {
      estimateCost: (args) => itemCost(client.prices, price, Math.max(minimum, maxResults(args))),
    },
  );
}

interface Wanted {
  readonly max_results: number;
  /** The smallest page that X accepts. */
  readonly minimum?: number;
}

interface FetchedPage<T> {
  readonly items: readonly T[];
  readonly partialErrors: readonly PartialError[];
  readonly limits: readonly RateLimitInfo[];
  readonly next: PageCursor | undefined;
  readonly after: (kept: number) => PageCursor;
}

/**
 * One page with at most `max_results` items. X's page can be larger than that, or than the response budget:
 * the rest of it is returned with the next token.
 */
export async function fetchPage<T extends { readonly id: string }>(
  fetch: (query: PageQuery) => Promise<PageResult<T>>,
  { max_results: wanted, minimum = 1 }: Wanted,
  cursor: PageCursor | undefined,
): Promise<FetchedPage<T>> {
  const maxResults = cursor?.n ?? Math.max(wanted, minimum);
  const result = await fetch({ maxResults, paginationToken: cursor?.t });
  const rest = cursor?.after === undefined ? result.items : itemsAfter(result.items, cursor.after);
  const { next, repeats } = nextCursor(result, cursor);
  if (rest.length === 0 && result.items.length > 0 && next) {
    return fetchPage(fetch, { max_results: wanted, minimum }, next);
  }
  const items = rest.slice(0, wanted);
  const after = (kept: number): PageCursor => ({
    ...(cursor?.t !== undefined && { t: cursor.t }),
    ...(cursor?.seen && { seen: cursor.seen }),
    after: items[kept - 1]?.id ?? '',
    n: maxResults,
  });
  const { limits } = result;
  const isCut = items.length < rest.length;
  const partialErrors =
    repeats && !isCut ? [...result.partialErrors, PAGES_REPEAT] : result.partialErrors;
  return { items, partialErrors, limits, after, next: isCut ? after(items.length) : next };
}

const PAGES_REPEAT: PartialError = {
  reason: 'pages_repeat',
  message:
    'X returned a page or token again, or only empty pages. The list ends here and may be incomplete.',
};

/** The whole page if the item is gone: a repeated item is better than a missing one. */
function itemsAfter<T extends { readonly id: string }>(items: readonly T[], id: string) {
  return items.slice(items.findIndex((item) => item.id === id) + 1);
}

/** `meta.rate_limit` shows the 15-minute window of the endpoint, not the daily one. */
export function shortWindow(limits: readonly RateLimitInfo[]) {
  const info = limits.find(({ name }) => name === undefined);
  return info && rateLimitMeta(info);
}

/** Detects cycles of up to 24 pages: each leaves a mark of its token and of its items. */
const MAX_MARKS = 2 * 24;
/** X can return an empty page within a list, but not many in a row. */
const MAX_EMPTY_PAGES = 10;

interface NextCursor {
  readonly next: PageCursor | undefined;
  /** X gave a next token, and following it would repeat earlier pages. */
  readonly repeats: boolean;
}

function nextCursor<T extends { readonly id: string }>(
  { items, nextToken }: PageResult<T>,
  cursor: PageCursor | undefined,
): NextCursor {
  if (nextToken === undefined) return { next: undefined, repeats: false };
  const { seen = [], t: token, empty: before = 0 } = cursor ?? {};
  const mark = items.length === 0 ? undefined : markOf(items.map(({ id }) => id).join(' '));
  const empty = mark === undefined ? before + 1 : 0;
  const used = token === undefined ? seen : [...seen, markOf(token)];
  const isKnown = used.includes(markOf(nextToken)) || (mark !== undefined && seen.includes(mark));
  if (isKnown || empty >= MAX_EMPTY_PAGES) return { next: undefined, repeats: true };
  const all = mark === undefined ? used : [...used, mark];
  const next = { t: nextToken, seen: all.slice(-MAX_MARKS), ...(empty > 0 && { empty }) };
  return { next, repeats: false };
}

/** Short, because marks are part of the pagination token. */
function markOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}
