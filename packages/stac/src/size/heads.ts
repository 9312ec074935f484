import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import { headerOf } from '../http/types.js';
import { parseTarget } from '../http/ssrf.js';
import { within, type CallContext } from '../call-context.js';
import { byClass } from './estimate.js';

const PARALLEL = 12;
const MAX_HEADS = 48;
/** The share of the remaining time that HEAD requests may take: the answer is worth more. */
const SHARE_OF_TIME = 0.6;

/** A file that can be asked for its size. */
export interface Candidate {
  readonly href: string;
  /** Its class, as in `AssetFacts`. */
  readonly group: string;
  /** Its pixels, uncompressed. */
  readonly raw?: number | undefined;
}

export interface Heads {
  /** Files whose size could not be learned are left out, whatever the reason. */
  readonly sizes: ReadonlyMap<string, number>;
  /** How many files were not asked for, because there were too many. */
  readonly unasked: number;
}

/**
 * Which files to ask for, where not all can be: every class in turn, and each time another item, so
 * that the sample is spread over both. Classes without another source come first, then large ones.
 */
export function headSample(candidates: readonly Candidate[], max: number): readonly string[] {
  const weightOf = ([first]: readonly Candidate[]) => first?.raw ?? Number.MAX_VALUE;
  const classes = [...byClass(candidates).values()].toSorted((a, b) => weightOf(b) - weightOf(a));
  const orders = classes.map((list, index) => {
    const places = list.map((_, place) => place).toSorted((a, b) => rankOf(a) - rankOf(b));
    return places.map((place) => list[(place + index) % list.length]!.href);
  });
  const longest = orders.reduce((most, { length }) => Math.max(most, length), 0);
  const inTurn = Array.from({ length: longest }, (_, round) =>
    orders.flatMap((hrefs) => hrefs[round] ?? []),
  );
  return [...new Set(inTurn.flat())].slice(0, max);
}

/** Spreads any first few places over a list, also one in which the same tiles repeat (golden ratio). */
function rankOf(place: number): number {
  return (place * 0.618_033_988_749_895) % 1;
}

/** Sizes from HEAD requests to the files. */
export async function headSizes(
  client: Client,
  catalog: Catalog,
  candidates: readonly Candidate[],
  scope: CallContext,
): Promise<Heads> {
  const begun = client.now();
  const deadline = begun + (scope.deadline - begun) * SHARE_OF_TIME;
  const limited = within(scope, { deadline });
  const sizes = new Map<string, number>();
  const reachable = candidates.filter(({ href }) => /^https?:/i.test(href));
  const queue = [...headSample(reachable, MAX_HEADS)];
  const total = queue.length;
  const worker = async (): Promise<void> => {
    for (let href = queue.shift(); href !== undefined; href = queue.shift()) {
      const size = await headSize(client, catalog, href, limited);
      if (size !== undefined) sizes.set(href, size);
      scope.progress({ progress: total - queue.length, total, message: 'asking for asset sizes' });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  // A caller that has gone gets its own reason back, not a result with holes.
  scope.signal.throwIfAborted();
  return { sizes, unasked: new Set(reachable.map(({ href }) => href)).size - total };
}

async function headSize(
  client: Client,
  catalog: Catalog,
  href: string,
  scope: CallContext,
): Promise<number | undefined> {
  try {
    // The signed address stays in here.
    const url = parseTarget(await client.signer.sign(catalog, href, scope));
    const headers = { 'accept-encoding': 'identity' };
    const request = { catalog, method: 'HEAD', url, headers, route: 'head' } as const;
    const outcome = await client.gateway.outcome(request, scope);
    if (!outcome.ok || outcome.value.status !== 200) return undefined;
    const length = Number(headerOf(outcome.value.headers, 'content-length') ?? NaN);
    // Some servers say 0 where they mean that they do not know.
    return Number.isSafeInteger(length) && length > 0 ? length : undefined;
  } catch {
    return undefined;
  }
}
