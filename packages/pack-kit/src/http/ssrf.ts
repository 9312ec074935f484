import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from 'node:net';

/** The request target is not allowed. The message names the host at most, never a whole URL. */
export class TargetNotAllowed extends Error {
  override readonly name = 'TargetNotAllowed';
}

/** Whether requests may connect to an IP address. Injected, so that tests can allow loopback. */
export type IsAllowed = (address: string) => boolean;

/** Host names that are always local, whatever the resolver returns. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa)\.?$/i;

/** Parses an untrusted URL: http or https, without credentials. */
export function parseTarget(href: string, base?: string | URL): URL {
  let url: URL;
  try {
    url = new URL(href, base);
  } catch {
    throw new TargetNotAllowed('The URL is invalid.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TargetNotAllowed(`Only http and https URLs are allowed, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetNotAllowed(
      'The URL contains credentials. The operator can configure them instead.',
    );
  }
  return url;
}

/**
 * Rejects private IP addresses and local names before DNS resolution. The URL parser has already
 * normalised decimal, octal and hexadecimal IPv4 notations; `lookupWith` checks resolved names.
 */
export function checkPublic(url: URL, isAllowed: IsAllowed = isPublicAddress): void {
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) === 0 ? LOCAL_NAME.test(host) || host === '' : !isAllowed(host)) reject(host);
}

function reject(host: string): never {
  throw new TargetNotAllowed(
    `${host || 'The URL'} is not on the public internet. The operator can allow it in the configuration.`,
  );
}

/** Resolves a host name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true });

/**
 * A socket `lookup` that resolves once, checks every address and connects to a checked address, which
 * prevents DNS rebinding. A single disallowed address rejects the name.
 */
export function lookupWith(resolve: Resolve, isAllowed?: IsAllowed): LookupFunction {
  return (hostname, options, callback) => {
    const check = (addresses: readonly LookupAddress[]) => {
      if (isAllowed && !addresses.every(({ address }) => isAllowed(address))) reject(hostname);
      return addresses;
    };
    resolve(hostname)
      .then(check)
      .then(
        (addresses) => {
          const family = options.family === 4 || options.family === 6 ? options.family : undefined;
          const usable = family ? addresses.filter((entry) => entry.family === family) : addresses;
          const [first] = usable;
          const code = 'ENOTFOUND';
          if (!first)
            callback(Object.assign(new Error(`no address for ${hostname}`), { code }), '');
          else if (options.all) callback(null, [...usable]);
          else callback(null, first.address, first.family);
        },
        (cause: unknown) =>
          callback(cause instanceof Error ? cause : new Error('no resolver', { cause }), ''),
      );
  };
}

/** Ranges outside the public internet, from the IANA special-purpose address registries. */
const special = blockList([
  '0.0.0.0/8', // "this network"; reaches listeners on all interfaces
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, cloud metadata services
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '2001::/23', // protocol assignments, including Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: embeds an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
]);

/**
 * IPv6 outside global unicast is not public: loopback, link-local, unique local and multicast addresses, and
 * those that embed an IPv4 address (mapped, compatible, NAT64).
 */
const globalUnicast = blockList(['2000::/3']);

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** Whether a string is an IP address of the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address);
  // BlockList does not accept a zone index.
  const [plain = ''] = address.split('%');
  return isIPv6(plain) && globalUnicast.check(plain, 'ipv6') && !special.check(plain, 'ipv6');
}
