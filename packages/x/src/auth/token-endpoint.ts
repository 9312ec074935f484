import type { Connections } from '../http/connections.js';
import { authenticate } from '../http/exchange.js';
import { numberOf, textOf, type Doc } from '../json.js';
import { unreadable } from '../problems/upstream-problem.js';
import type { Redactor } from '@toolkeel/pack-kit';

/** What the token endpoint gives. */
export interface Grant {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly expiresInMs: number;
  readonly scopes: readonly string[];
}

export interface TokenEndpoint {
  readonly url: URL;
  /** Of a confidential app; a public one has none. */
  readonly clientSecret: string | undefined;
  readonly connections: Connections;
  readonly secrets: Redactor;
  readonly wallNow: () => number;
}

const MAX_BYTES = 65_536;
/** X's own lifetime of an access token, for an answer that does not say. */
const TWO_HOURS_MS = 7_200_000;
/** More than that is no lifetime but a mistake: no calendar has its end. */
const MAX_LIFETIME_S = 365 * 86_400;
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/** Asks for tokens. Throws a `FaultError` or what undici throws; neither holds a token. */
export async function requestTokens(
  { url, clientSecret, connections, secrets, wallNow }: TokenEndpoint,
  clientId: string,
  form: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Grant> {
  const basic = Buffer.from(`${clientId}:${clientSecret ?? ''}`).toString('base64');
  const fields = { ...form, ...(clientSecret === undefined && { client_id: clientId }) };
  const { doc } = await authenticate(
    {
      method: 'POST',
      url,
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams(fields).toString(),
    },
    {
      connections,
      authorization: clientSecret === undefined ? undefined : `Basic ${basic}`,
      secrets,
      maxBytes: MAX_BYTES,
      signal,
      wallNow,
    },
  );
  const grant = readGrant(doc);
  secrets.addRotating(grant.accessToken);
  if (grant.refreshToken !== undefined) secrets.addRotating(grant.refreshToken);
  return grant;
}

function readGrant(doc: Doc): Grant {
  const accessToken = textOf(doc['access_token']);
  if (accessToken === undefined || !TOKEN.test(accessToken)) throw unreadable();
  const refreshToken = textOf(doc['refresh_token']);
  return {
    accessToken,
    refreshToken: refreshToken !== undefined && TOKEN.test(refreshToken) ? refreshToken : undefined,
    expiresInMs: lifetimeOf(doc['expires_in']),
    scopes: textOf(doc['scope'])?.split(' ').filter(Boolean) ?? [],
  };
}

/** In milliseconds, from what X says in seconds. */
export function lifetimeOf(given: unknown): number {
  const seconds = numberOf(given) ?? 0;
  return seconds > 0 && seconds <= MAX_LIFETIME_S ? seconds * 1000 : TWO_HOURS_MS;
}
