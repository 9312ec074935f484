import type {
  ErrorCode,
  NoSchema,
  ObjectSchema,
  OutputOf,
  Schema,
  Tool,
  ToolSpec,
} from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { readCost } from '../cost/estimate.js';
import type { PriceName } from '../cost/prices.js';
import type { Page, PageQuery } from '../provider/provider.js';
import type { Scope } from '../scope.js';
import { fetchPage, pageAnswer } from './page-of.js';
import type { CursorSchema, ListName } from './specs/paging.js';
import { xTool } from './tool.js';

interface Listing<Args, Item> {
  readonly items: ListName;
  /** What one of them costs. */
  readonly price?: PriceName;
  /** The least that X lets us ask for. */
  readonly least?: number;
  readonly fetch: (args: Args, page: PageQuery, scope: Scope) => Promise<Page<Item>>;
  /** How one of them stands in an answer. */
  readonly show?: (item: Item) => Item;
}

/** A tool that pages through a list of X's. */
export function listTool<
  In extends ObjectSchema,
  Out extends Schema,
  Code extends ErrorCode,
  Item extends { readonly id: string },
>(
  spec: ToolSpec<In, Out, Code, NoSchema, CursorSchema>,
  client: Client,
  { items, price, least = 1, fetch, show = (item) => item }: Listing<OutputOf<In>, Item>,
): Tool<In, Out> {
  const wantedIn = (args: OutputOf<In>) => (args as { readonly max_results: number }).max_results;
  return xTool(
    spec,
    client,
    async (args, { scope, cursor }) => {
      const wanted = { max_results: wantedIn(args), least };
      const found = await fetchPage((page) => fetch(args, page, scope), wanted, cursor);
      // The specifications name the list as they were told to: `ofTweets` and its like.
      return pageAnswer(items, { ...found, items: found.items.map(show) }) as never;
    },
    price && {
      estimateCost: (args) => readCost(client.prices, price, Math.max(least, wantedIn(args))),
    },
  );
}
