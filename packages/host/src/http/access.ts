import { createHash, timingSafeEqual } from 'node:crypto';
import { HostError } from '../errors.js';

/** The minimum length of a token that cannot be guessed by trying. */
const MIN_TOKEN_LENGTH = 16;
const LOOPBACK_V4 = /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/;

interface AccessOptions {
  /** The address that the server listens on. */
  readonly host: string;
  /** Additional host names that clients may use. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Host names of web pages that may call the server. Pages on loopback addresses always may. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** A function, so that the token is not copied. */
  readonly token?: (() => string) | undefined;
}

export interface AccessRefusal {
  readonly status: 401 | 403;
  readonly message: string;
}

export type AccessHeaders = { readonly get: (name: string) => string | null };

/** Checks the headers of a request before its body is read. Returns undefined for an accepted request. */
export interface Access {
  /** Checks Host, Origin and token. */
  readonly check: (headers: AccessHeaders) => AccessRefusal | undefined;
  /** Checks Host and Origin only: for routes that are public or have another token. */
  readonly checkOrigin: (headers: AccessHeaders) => AccessRefusal | undefined;
  /** Whether `allowedOrigins` names the host of this origin: for routes that refuse pages of other ports. */
  readonly isAllowedOrigin: (origin: string) => boolean;
}

export function createAccess({
  host,
  allowedHosts,
  allowedOrigins = [],
  token,
}: AccessOptions): Access {
  const hosts = new Set([...(allowedHosts ?? []), host].map(toLower));
  const origins = new Set(allowedOrigins.map(toLower));
  // Protects against DNS rebinding. On other addresses the required token does.
  const checksHost = isLoopback(host) || allowedHosts !== undefined;

  const refusalOf = (
    hostHeader: string | null,
    origin: string | null,
  ): AccessRefusal | undefined => {
    const requestHost = hostnameOf(`http://${hostHeader ?? ''}`);
    if (requestHost === undefined) return forbidden('The Host header is missing or malformed.');
    if (checksHost && !isLoopback(requestHost) && !hosts.has(requestHost)) {
      return forbidden('The Host header names another server. See http.allowedHosts.');
    }
    if (origin === null) return undefined;
    const page = hostnameOf(origin);
    if (page !== undefined && (isLoopback(page) || origins.has(page))) return undefined;
    return forbidden('This origin may not call this server. See http.allowedOrigins.');
  };

  // A client sends the same headers with every request, and parsing a URL is slow.
  let accepted: { readonly host: string | null; readonly origin: string | null } | undefined;
  const checkOrigin: Access['checkOrigin'] = (headers) => {
    const requestHost = headers.get('host');
    const origin = headers.get('origin');
    if (accepted?.host === requestHost && accepted.origin === origin) return undefined;
    const refusal = refusalOf(requestHost, origin);
    if (!refusal) accepted = { host: requestHost, origin };
    return refusal;
  };

  const isAllowedOrigin: Access['isAllowedOrigin'] = (origin) => {
    const page = hostnameOf(origin);
    return page !== undefined && origins.has(page);
  };

  return {
    checkOrigin,
    isAllowedOrigin,
    check: (headers) => checkOrigin(headers) ?? checkToken(headers, token),
  };
}

/** Checks the bearer token, if one is required. */
export function checkToken(
  headers: AccessHeaders,
  token: AccessOptions['token'],
): AccessRefusal | undefined {
  if (!token) return undefined;
  const given = /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
  if (given !== undefined && isEqual(given, token())) return undefined;
  return { status: 401, message: 'A bearer token is needed.' };
}

/** Throws unless an address beyond loopback is protected by tokens of sufficient length. */
export function requireTokens(
  host: string,
  token: string | undefined,
  metricsToken?: string,
): void {
  if (isLoopback(host)) return;
  const reachable = `http.host is ${host}, which other machines can reach`;
  if (token === undefined) {
    throw new HostError(
      `${reachable}: http.token is required. Set TOOLKEEL_HTTP_TOKEN, or listen on 127.0.0.1.`,
    );
  }
  const length = `must have at least ${MIN_TOKEN_LENGTH} characters, such as from \`openssl rand -hex 32\`.`;
  if (token.length < MIN_TOKEN_LENGTH) throw new HostError(`${reachable}: http.token ${length}`);
  if (metricsToken !== undefined && metricsToken.length < MIN_TOKEN_LENGTH)
    throw new HostError(`${reachable}: http.metricsToken ${length}`);
}

/** Whether only this machine can reach an address. */
function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return bare === 'localhost' || bare === '::1' || LOOPBACK_V4.test(bare);
}

function forbidden(message: string): AccessRefusal {
  return { status: 403, message };
}

/** Constant time: hashing gives both values the same length. */
function isEqual(given: string, expected: string): boolean {
  return timingSafeEqual(sha256(given), sha256(expected));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function hostnameOf(url: string): string | undefined {
  try {
    return toLower(new URL(url).hostname) || undefined;
  } catch {
    return undefined;
  }
}

function toLower(name: string): string {
  return name.toLowerCase();
}
