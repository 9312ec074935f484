import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './addresses.js';
import { refuse, type IsAllowed } from './target.js';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true });

/**
 * A `lookup` for sockets that resolves once, checks every address and connects to what was checked:
 * a name cannot be public when it is looked at and private when it is connected to. One address that
 * is not allowed refuses the name, because whoever mixes them means no good.
 */
export function checkedLookup(
  resolve: Resolve,
  isAllowed: IsAllowed = isPublicAddress,
): LookupFunction {
  return lookupWith(async (hostname) => {
    const found = await resolve(hostname);
    if (!found.every(({ address }) => isAllowed(address))) refuse(hostname);
    return found;
  });
}

/** A `lookup` for sockets that asks the given resolver and nobody else. */
export function lookupWith(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const family = options.family === 4 || options.family === 6 ? options.family : undefined;
        const usable = family ? found.filter((one) => one.family === family) : found;
        const [first] = usable;
        if (!first) callback(notFound(hostname), '');
        else if (options.all) callback(null, [...usable]);
        else callback(null, first.address, first.family);
      },
      (cause: unknown) => callback(asError(cause), ''),
    );
  };
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no address for ${hostname}`), { code: 'ENOTFOUND' });
}

function asError(cause: unknown): NodeJS.ErrnoException {
  return cause instanceof Error ? cause : new Error('the resolver failed', { cause });
}
