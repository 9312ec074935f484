import { headerOf, parseTarget } from '@toolkeel/pack-kit';
import type { CatalogCall } from '../api/catalog-call.js';
import { byGroup } from './estimate.js';

const PARALLEL = 12;
const MAX_HEADS = 48;
/** The share of the remaining time that HEAD requests may take. */
const SHARE_OF_TIME = 0.6;

/** A file whose size a HEAD request can determine. */
export interface Candidate {
  readonly href: string;
  /** As in `AssetFacts`. */
  readonly group: string;
  /** The uncompressed size of its pixels. */
  readonly raw?: number | undefined;
}

export interface HeadSizes {
  /** By URL, without files whose size could not be determined. */
  readonly sizes: ReadonlyMap<string, number>;
  /** The number of files beyond the limit. */
  readonly skipped: number;
}

/**
 * Selects the files for HEAD requests: each group in turn, each time from another item, so that the
 * sample covers both. Groups without pixel counts come first, then large ones.
 */
export function headSample(candidates: readonly Candidate[], max: number): readonly string[] {
  const weightOf = ([first]: readonly Candidate[]) => first?.raw ?? Number.MAX_VALUE;
  const groups = [...byGroup(candidates).values()].toSorted((a, b) => weightOf(b) - weightOf(a));
  const orders = groups.map((list, index) => {
    const places = list.map((_, place) => place).toSorted((a, b) => rankOf(a) - rankOf(b));
    return places.map((place) => list[(place + index) % list.length]!.href);
  });
  const longest = orders.reduce((most, { length }) => Math.max(most, length), 0);
  const rounds = Array.from({ length: longest }, (_, round) =>
    orders.flatMap((hrefs) => hrefs[round] ?? []),
  );
  return [...new Set(rounds.flat())].slice(0, max);
}

/** Spreads the first places over the list (golden ratio), even if the same tiles repeat. */
function rankOf(place: number): number {
  return (place * 0.618_033_988_749_895) % 1;
}

/** Determines file sizes by HEAD requests. */
export async function headSizes(
  call: CatalogCall,
  candidates: readonly Candidate[],
): Promise<HeadSizes> {
  const limited = call.withTimeShare(SHARE_OF_TIME);
  const { context } = call;
  const sizes = new Map<string, number>();
  const reachable = candidates.filter(({ href }) => /^https?:/i.test(href));
  const queue = [...headSample(reachable, MAX_HEADS)];
  const total = queue.length;
  const worker = async (): Promise<void> => {
    for (let href = queue.shift(); href !== undefined; href = queue.shift()) {
      const size = await headSize(limited, href);
      if (size !== undefined) sizes.set(href, size);
      context.progress({
        progress: total - queue.length,
        total,
        message: 'requesting asset sizes',
      });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  // Report a cancellation instead of an incomplete result.
  context.signal.throwIfAborted();
  return { sizes, skipped: new Set(reachable.map(({ href }) => href)).size - total };
}

async function headSize(
  { client, catalog, context }: CatalogCall,
  href: string,
): Promise<number | undefined> {
  try {
    // The signed URL is a secret and must not leave this function.
    const url = parseTarget(await client.signer.sign(catalog, href, context));
    const headers = { 'accept-encoding': 'identity' };
    const request = { catalog, method: 'HEAD', url, headers, route: 'head' } as const;
    const response = await client.requests.read(request, context);
    const length = Number(headerOf(response.headers, 'content-length') ?? NaN);
    // Some servers report 0 for an unknown size.
    return response.status === 200 && Number.isSafeInteger(length) && length > 0
      ? length
      : undefined;
  } catch {
    return undefined;
  }
}
