import type { Access, AccessHeaders } from '../http/access.js';
import { checkToken } from '../http/access.js';
import { ApiError } from './errors.js';
import { cookieName, readCookie, type Session, type Sessions } from './sessions.js';

/** Who makes a request to the API. */
export interface Operator {
  /** The actor of audit entries. Undefined for the token: the request names one. */
  readonly name?: string;
  readonly by: 'link' | 'token';
  readonly sessionId?: string;
  readonly session?: Session;
}

/**
 * Identifies the operator of a request, or throws: by the token of scripts, or by the session cookie of a
 * page of this server. The token of agents opens nothing here.
 */
export function identify(
  headers: AccessHeaders,
  { sessions, token }: { readonly sessions: Sessions; readonly token: () => string },
): Operator {
  if (headers.get('authorization') !== null) {
    if (checkToken(headers, token)) throw signedOut('The token is not valid here.');
    return { by: 'token' };
  }
  const host = headers.get('host') ?? '';
  const id = readCookie(headers.get('cookie'), cookieName(host));
  const session = id === undefined ? undefined : sessions.get(id);
  if (id === undefined || !session) throw signedOut('You are not signed in.');
  return { by: 'link', name: session.name, sessionId: id, session };
}

/**
 * Refuses requests of other pages. Cookies are sent by pages of every port of the same host, also with
 * SameSite=Strict, so the whole origin counts.
 */
export function checkSameOrigin(headers: AccessHeaders, access: Access): void {
  const refusal = access.checkOrigin(headers);
  if (refusal) throw new ApiError(403, 'refused', refusal.message, refusal.message);
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') {
    throw crossOrigin();
  }
  const origin = headers.get('origin');
  if (origin === null) return;
  if (hostOf(origin) === headers.get('host')?.toLowerCase()) return;
  if (access.isAllowedOrigin(origin)) return;
  throw crossOrigin();
}

function crossOrigin(): ApiError {
  const message = 'This request comes from another page.';
  return new ApiError(403, 'refused', message, 'Behind a proxy, see http.allowedOrigins.');
}

function signedOut(message: string): ApiError {
  return new ApiError(
    401,
    'signed_out',
    message,
    'Open a new link: toolkeel console. Scripts send the token from console.token in the data directory.',
  );
}

/** With the port, as in the Host header. */
function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}
