import { isIP } from 'node:net';
import { isPublicAddress } from './addresses.js';

/** A place that a request must not go to. Its message names the host at most: never a whole URL. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

/** Whether an address may be reached. Injected, so that tests can reach loopback on purpose. */
export type IsAllowed = (address: string) => boolean;

/** Names that never leave the machine or the local network, whatever a resolver says. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa)\.?$/i;

/** A URL from outside: http or https, without credentials; undefined base for an absolute one. */
export function parseTarget(href: string, base?: string | URL): URL {
  let url: URL;
  try {
    url = new URL(href, base);
  } catch {
    throw new TargetRefused('The address is not a valid URL.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TargetRefused(`Only http and https addresses can be used, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefused('The address contains credentials. Configure the catalogue instead.');
  }
  return url;
}

/**
 * Refuses what can be refused before a name is resolved. The URL parser has already turned decimal,
 * octal and hexadecimal forms into an ordinary address; names are looked at again when they have
 * been resolved (`checkedLookup`).
 */
export function checkPublic(url: URL, isAllowed: IsAllowed = isPublicAddress): void {
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) === 0 ? LOCAL_NAME.test(host) || host === '' : !isAllowed(host)) refuse(host);
}

export function refuse(host: string): never {
  throw new TargetRefused(
    `${host || 'The address'} is not on the public internet. The operator can configure it as a catalogue.`,
  );
}
