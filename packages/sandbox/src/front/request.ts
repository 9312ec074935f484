import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What was asked for, as far as the head of a request tells. */
export interface Head {
  readonly method: string;
  readonly url: URL;
}

export function headOf({ method = 'GET', url = '/' }: IncomingMessage, origin: string): Head {
  // Not as a relative address: then a path of two slashes would name a host.
  return { method, url: new URL(url.startsWith('/') ? origin + url : url) };
}

export function requestFrom(incoming: IncomingMessage, head: Head, bytes: Buffer): Request {
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const body = bytes.length > 0 ? { body: new Uint8Array(bytes) } : {};
  return new Request(head.url, { method: head.method, headers, ...body });
}

/** Equal for requests that ask the same, in whatever order they name their parameters. */
export function fingerprintOf({ method, url }: Head, bytes: Buffer): string {
  const query = [...url.searchParams].map(([name, value]) => `${name}=${value}`).toSorted();
  const hash = createHash('sha256').update(`${method} ${url.pathname}?${query.join('&')}\n`);
  return hash.update(bytes).digest('hex').slice(0, 16);
}
