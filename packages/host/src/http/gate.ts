import { timingSafeEqual, createHash } from 'node:crypto';
import { isLoopback } from './loopback.js';

export interface GateOptions {
  /** Where we listen. */
  readonly host: string;
  /** Further names by which clients may call us. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Web pages that may call us: their hostnames. Pages of this machine always may. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Read when asked, so that it lives in one place only. */
  readonly token?: (() => string) | undefined;
}

export type Refusal = { readonly status: 401 | 403; readonly message: string };

type Headers = { readonly get: (name: string) => string | null };

/** Decides, before anything is read, whether a request may come in. */
export interface Gate {
  /** Undefined when it may. */
  readonly refuse: (headers: Headers) => Refusal | undefined;
  /** The same without the token: for what tells nothing. */
  readonly refuseForeign: (headers: Headers) => Refusal | undefined;
}

export function createGate({ host, allowedHosts, allowedOrigins = [], token }: GateOptions): Gate {
  const isLocal = isLoopback(host);
  const hosts = new Set([...(allowedHosts ?? []), host].map(lower));
  const origins = new Set(allowedOrigins.map(lower));
  // Bound elsewhere, a request needs the token, which a page that rebinds names does not have.
  const checksHost = isLocal || allowedHosts !== undefined;

  const refuseForeign: Gate['refuseForeign'] = (headers) => {
    const called = hostnameOf(`http://${headers.get('host') ?? ''}`);
    if (called === undefined)
      return { status: 403, message: 'The Host header is missing or wrong.' };
    if (checksHost && !isLoopback(called) && !hosts.has(called)) {
      return {
        status: 403,
        message: 'This server does not answer to the name in the Host header.',
      };
    }
    const origin = headers.get('origin');
    if (origin === null) return undefined;
    const from = hostnameOf(origin);
    if (from !== undefined && (isLoopback(from) || origins.has(from))) return undefined;
    return { status: 403, message: 'Pages of this origin may not call this server.' };
  };

  return {
    refuseForeign,
    refuse: (headers) => refuseForeign(headers) ?? refuseStranger(headers, token),
  };
}

/** Whether somebody does not know the token, where there is one. */
export function refuseStranger(headers: Headers, token: GateOptions['token']): Refusal | undefined {
  if (!token) return undefined;
  const given = /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
  if (given !== undefined && isSame(given, token())) return undefined;
  return { status: 401, message: 'A bearer token is needed.' };
}

/** In constant time: the hashes have one length, whatever was given. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function hostnameOf(url: string): string | undefined {
  try {
    return lower(new URL(url).hostname) || undefined;
  } catch {
    return undefined;
  }
}

function lower(name: string): string {
  return name.toLowerCase();
}
