import type { JsonObject } from '../../json.js';
import type { Clock } from '../../server/clock.js';
import type { Act } from '../commits.js';
import { isOAuthScope, type IssuedTokens, type OAuthScope, type Tokens } from './tokens.js';
import { createHash } from 'node:crypto';
import { randomOf } from '../../random.js';

interface OAuthApp {
  readonly clientId: string;
  /** Required on token requests if it is set. */
  readonly clientSecret?: string;
  /** The user who consents. */
  readonly userId: string;
  /** The error for a used, unknown or expired refresh token. */
  readonly refusedRefresh: 'invalid_grant' | 'invalid_request';
}

export interface OAuth {
  readonly app: OAuthApp;
  readonly tokens: Tokens;
  readonly codes: ReturnType<typeof createCodes>;
}

type RecordCommit = (act: Act, account: string) => void;

function json(status: number, body: JsonObject): Response {
  const headers = { 'content-type': 'application/json;charset=utf-8', 'cache-control': 'no-store' };
  return new Response(JSON.stringify(body), { status, headers });
}

function oauthError(status: number, error: string, description: string): Response {
  return json(status, { error, error_description: description });
}

/** Authenticates the client by its secret, or a public client by its id. */
function clientError(
  { clientId, clientSecret }: OAuthApp,
  request: Request,
  form: URLSearchParams,
): Response | undefined {
  if (clientSecret === undefined)
    return form.get('client_id') === clientId
      ? undefined
      : oauthError(400, 'invalid_request', 'Value passed for the client_id was invalid.');
  return hasSecret(request, clientId, clientSecret)
    ? undefined
    : oauthError(401, 'unauthorized_client', 'Missing valid authorization header');
}

function hasSecret(request: Request, clientId: string, secret: string): boolean {
  const [scheme, given = ''] = (request.headers.get('authorization') ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic') return false;
  const [id, ...rest] = Buffer.from(given, 'base64').toString().split(':');
  return id === encodeURIComponent(clientId) && rest.join(':') === encodeURIComponent(secret);
}

/** A user's consent, to be exchanged for tokens. */
export interface Authorization {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly userId: string;
  readonly scopes: readonly OAuthScope[];
  readonly challenge: string;
}

const LIFETIME = 30_000;

export function createCodes(clock: Clock, seed: number) {
  const issued = new Map<
    string,
    { readonly authorization: Authorization; readonly until: number }
  >();
  let created = 0;
  return {
    issue: (authorization: Authorization): string => {
      created += 1;
      const random = randomOf(seed, 'code', created);
      const bytes = Uint8Array.from({ length: 30 }, () => Math.floor(random() * 256));
      const code = Buffer.from(bytes).toString('base64url');
      issued.set(code, { authorization, until: clock.now() + LIFETIME });
      return code;
    },
    /** A code can be redeemed once, within thirty seconds. */
    redeem: (code: string) => {
      const known = issued.get(code);
      issued.delete(code);
      return known && known.until > clock.now() ? known.authorization : undefined;
    },
  };
}

/** Checks the PKCE verifier against the challenge. */
export function verifies(verifier: string, { challenge }: Authorization): boolean {
  return createHash('sha256').update(verifier).digest('base64url') === challenge;
}

type GetParameter = (name: string) => string;

const LOOPBACK_URI = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$)/;

/** The consent page. It consents at once, or denies if that fault is injected. */
export function authorize(
  { app, codes }: OAuth,
  query: URLSearchParams,
  denied: boolean,
): Response {
  const get: GetParameter = (name) => query.get(name) ?? '';
  const invalidRequest = invalidParameter(app, get);
  if (invalidRequest !== undefined)
    return new Response(
      `<!DOCTYPE html><title>Something went wrong</title><p>${invalidRequest}</p>`,
      {
        status: 400,
        headers: { 'content-type': 'text/html; charset=utf-8' },
      },
    );
  const back = new URL(get('redirect_uri'));
  back.searchParams.set('state', get('state'));
  if (denied) back.searchParams.set('error', 'access_denied');
  else
    back.searchParams.set(
      'code',
      codes.issue({
        clientId: app.clientId,
        redirectUri: get('redirect_uri'),
        userId: app.userId,
        scopes: scopesIn(get('scope')),
        challenge: get('code_challenge'),
      }),
    );
  return new Response(null, { status: 302, headers: { location: back.href } });
}

function invalidParameter(app: OAuthApp, get: GetParameter): string | undefined {
  const redirectUri = get('redirect_uri');
  const stateLength = get('state').length;
  if (get('response_type') !== 'code') return 'response_type must be code';
  if (get('client_id') !== app.clientId) return 'the client_id is not known';
  if (!LOOPBACK_URI.test(redirectUri) || !URL.canParse(redirectUri))
    return 'the redirect_uri is not registered';
  if (stateLength < 1 || stateLength > 500) return 'state must have 1 to 500 characters';
  if (scopesIn(get('scope')).length === 0) return 'the scope is not known';
  if (get('code_challenge') === '') return 'code_challenge is missing';
  if (get('code_challenge_method') !== 'S256') return 'code_challenge_method must be S256';
  return undefined;
}

function scopesIn(text: string): OAuthScope[] {
  const named = text.split(' ').filter((scope) => scope !== '');
  return named.every(isOAuthScope) ? named : [];
}

type Grant = (oauth: OAuth, get: (name: string) => string, recordCommit: RecordCommit) => Response;

interface GrantType {
  readonly needs: readonly string[];
  readonly give: Grant;
}

const invalidRequest = (description: string): Response =>
  oauthError(400, 'invalid_request', description);

const grants: Readonly<Record<string, GrantType>> = {
  refresh_token: {
    needs: ['refresh_token'],
    give: ({ app, tokens }, get, recordCommit) => {
      const issued = tokens.refresh(get('refresh_token'));
      if (!issued)
        return oauthError(400, app.refusedRefresh, 'Value passed for the token was invalid.');
      recordCommit({ kind: 'token.issued', grant: 'refresh_token' }, issued.userId);
      return json(200, tokenBody(issued));
    },
  },
  authorization_code: {
    needs: ['code', 'redirect_uri', 'code_verifier'],
    give: ({ tokens, codes }, get, recordCommit) => {
      const authorization = codes.redeem(get('code'));
      if (!authorization)
        return invalidRequest('Value passed for the authorization code was invalid.');
      if (authorization.redirectUri !== get('redirect_uri'))
        return invalidRequest(
          'Value passed for the redirect uri did not match the uri of the authorization code.',
        );
      if (!verifies(get('code_verifier'), authorization))
        return invalidRequest(
          'Value passed for the code verifier did not match the code challenge.',
        );
      recordCommit({ kind: 'token.issued', grant: 'authorization_code' }, authorization.userId);
      return json(200, tokenBody(tokens.issue(authorization)));
    },
  },
};

/** POST /2/oauth2/token */
export async function token(
  oauth: OAuth,
  request: Request,
  recordCommit: RecordCommit,
): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  const rejected = clientError(oauth.app, request, form);
  if (rejected) return rejected;
  const type = form.get('grant_type') ?? '';
  const grant = Object.hasOwn(grants, type) ? grants[type] : undefined;
  if (!grant)
    return oauthError(
      400,
      'unsupported_grant_type',
      'Value passed for the grant_type was invalid.',
    );
  const lacking = grant.needs.find((name) => !form.get(name));
  if (lacking !== undefined) return invalidRequest(`Missing required parameter [${lacking}].`);
  return grant.give(oauth, (name) => form.get(name) ?? '', recordCommit);
}

function tokenBody(issued: IssuedTokens): JsonObject {
  return {
    token_type: 'bearer',
    expires_in: issued.expiresInSeconds,
    access_token: issued.accessToken,
    scope: issued.scopes.join(' '),
    ...(issued.refreshToken !== undefined && { refresh_token: issued.refreshToken }),
  };
}
