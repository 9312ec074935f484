import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import { headerOf } from '../http/request.js';
import { parseTarget } from '../reach/target.js';
import { within, type Scope } from '../scope.js';

const PARALLEL = 8;
const MAX_HEADS = 48;
/** The share of the remaining time that HEAD requests may take: the answer is worth more. */
const SHARE_OF_TIME = 0.6;

export interface Heads {
  /** What cannot be learned is left out, whatever the reason. */
  readonly sizes: ReadonlyMap<string, number>;
  /** How many files were not asked for, because there were too many. */
  readonly unasked: number;
}

/** Sizes by asking where the files are. */
export async function headSizes(
  client: Client,
  catalog: Catalog,
  hrefs: readonly string[],
  scope: Scope,
): Promise<Heads> {
  const begun = client.now();
  const deadline = begun + (scope.deadline - begun) * SHARE_OF_TIME;
  const limited = within(scope, { deadline });
  const sizes = new Map<string, number>();
  const distinct = [...new Set(hrefs)];
  const queue = distinct.slice(0, MAX_HEADS);
  const total = queue.length;
  const lane = async (): Promise<void> => {
    for (let href = queue.shift(); href !== undefined; href = queue.shift()) {
      const size = await headSize(client, catalog, href, limited);
      if (size !== undefined) sizes.set(href, size);
      scope.progress({ progress: total - queue.length, total, message: 'asking for asset sizes' });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
  // A caller that has gone gets its own reason back, not a result with holes.
  scope.signal.throwIfAborted();
  return { sizes, unasked: distinct.length - total };
}

async function headSize(
  client: Client,
  catalog: Catalog,
  href: string,
  scope: Scope,
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
