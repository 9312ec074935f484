import {
  authenticate,
  numberOf,
  stringOf,
  type Connections,
  type JsonObject,
  type Redactor,
} from '@toolkeel/pack-kit';
import { xResponseOf } from '../api/session.js';
import { faultOfResponse, unreadableResponse } from '../api/upstream-problem.js';

/** A response of the token endpoint. */
export interface Grant {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly expiresInMs: number;
  readonly scopes: readonly string[];
}

export interface TokenEndpoint {
  readonly url: URL;
  /** Undefined for a public app. */
  readonly clientSecret: string | undefined;
  readonly connections: Connections;
  readonly secrets: Redactor;
  readonly wallNow: () => number;
}

const MAX_BYTES = 65_536;
/** X's documented lifetime of an access token, for a response without `expires_in`. */
const TWO_HOURS_MS = 7_200_000;
/** Longer lifetimes are treated as invalid. */
const MAX_LIFETIME_S = 365 * 86_400;
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/** Requests tokens. Throws a `FaultError` or an error of undici; neither contains a token. */
export async function requestTokens(
  { url, clientSecret, connections, secrets, wallNow }: TokenEndpoint,
  clientId: string,
  form: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Grant> {
  const basic = Buffer.from(`${clientId}:${clientSecret ?? ''}`).toString('base64');
  const fields = { ...form, ...(clientSecret === undefined && { client_id: clientId }) };
  const authorization = clientSecret === undefined ? {} : { authorization: `Basic ${basic}` };
  const response = await authenticate(
    {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...authorization },
      body: new URLSearchParams(fields).toString(),
    },
    {
      connections,
      secrets,
      trusted: new Set([url.origin]),
      maxBytes: MAX_BYTES,
      signal,
      wallNow,
      faultOf: faultOfResponse,
    },
  );
  const grant = readGrant(xResponseOf(response).doc);
  secrets.addRotating(grant.accessToken);
  if (grant.refreshToken !== undefined) secrets.addRotating(grant.refreshToken);
  return grant;
}

function readGrant(doc: JsonObject): Grant {
  const accessToken = stringOf(doc['access_token']);
  if (accessToken === undefined || !TOKEN.test(accessToken)) throw unreadableResponse();
  const refreshToken = stringOf(doc['refresh_token']);
  return {
    accessToken,
    refreshToken: refreshToken !== undefined && TOKEN.test(refreshToken) ? refreshToken : undefined,
    expiresInMs: lifetimeOf(doc['expires_in']),
    scopes: stringOf(doc['scope'])?.split(' ').filter(Boolean) ?? [],
  };
}

/** The lifetime in milliseconds. */
export function lifetimeOf(given: unknown): number {
  const seconds = numberOf(given) ?? 0;
  return seconds > 0 && seconds <= MAX_LIFETIME_S ? seconds * 1000 : TWO_HOURS_MS;
}
