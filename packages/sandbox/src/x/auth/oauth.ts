import type { JsonObject } from '../../json.js';
import type { Clock } from '../clock.js';
import type { Act } from '../commits.js';
import { isScope, type IssuedTokens, type Scope, type Tokens } from './tokens.js';
import { createHash } from 'node:crypto';
import { randomOf } from '../../random.js';

interface OauthApp {
  readonly clientId: string;
  /** An app that has one must show it. */
  readonly clientSecret?: string;
  /** Where users may be sent back to. Default: anywhere on this machine. */
  readonly redirectUris?: readonly string[];
  /** The user who agrees. */
  readonly userId: string;
  /** What is said of a refresh token that is used, unknown or too old. */
  readonly refusedRefresh: 'invalid_grant' | 'invalid_request';
}

export interface Oauth {
  readonly app: OauthApp;
  readonly tokens: Tokens;
  readonly codes: Codes;
}

export type Witness = (act: Act, account: string) => void;

function json(status: number, body: JsonObject): Response {
  const headers = { 'content-type': 'application/json;charset=utf-8', 'cache-control': 'no-store' };
  return new Response(JSON.stringify(body), { status, headers });
}

function refused(status: number, error: string, description: string): Response {
  return json(status, { error, error_description: description });
}

/** Who asks must be the app: by its secret if it has one, else by its name. */
function strangerIn(
  { clientId, clientSecret }: OauthApp,
  request: Request,
  form: URLSearchParams,
): Response | undefined {
  if (clientSecret === undefined)
    return form.get('client_id') === clientId
      ? undefined
      : refused(400, 'invalid_request', 'Value passed for the client_id was invalid.');
  return hasSecret(request, clientId, clientSecret)
    ? undefined
    : refused(401, 'unauthorized_client', 'Missing valid authorization header');
}

function hasSecret(request: Request, clientId: string, secret: string): boolean {
  const [scheme, given = ''] = (request.headers.get('authorization') ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic') return false;
  const [id, ...rest] = Buffer.from(given, 'base64').toString().split(':');
  return id === encodeURIComponent(clientId) && rest.join(':') === encodeURIComponent(secret);
}

/** What a user has agreed to, until the app fetches its tokens for it. */
export interface Agreement {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly userId: string;
  readonly scopes: readonly Scope[];
  readonly challenge: string;
  readonly method: 'S256' | 'plain';
}

interface Codes {
  readonly issue: (agreement: Agreement) => string;
  /** A code is good once, and for half a minute. */
  readonly redeem: (code: string) => Agreement | undefined;
}

const LIFETIME = 30_000;

export function createCodes(clock: Clock, seed: number): Codes {
  const issued = new Map<string, { readonly agreement: Agreement; readonly until: number }>();
  let made = 0;
  return {
    issue: (agreement) => {
      made += 1;
      const random = randomOf(seed, 'code', made);
      const bytes = Uint8Array.from({ length: 30 }, () => Math.floor(random() * 256));
      const code = Buffer.from(bytes).toString('base64url');
      issued.set(code, { agreement, until: clock.now() + LIFETIME });
      return code;
    },
    redeem: (code) => {
      const known = issued.get(code);
      issued.delete(code);
      return known && known.until > clock.now() ? known.agreement : undefined;
    },
  };
}

/** Does the verifier belong to the challenge? Proof that whoever asks is who began. */
export function verifies(verifier: string, { challenge, method }: Agreement): boolean {
  if (method === 'plain') return verifier === challenge;
  return createHash('sha256').update(verifier).digest('base64url') === challenge;
}

type GetParameter = (name: string) => string;

const MINE = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$)/;

/** The page that asks a user. There is nobody to ask: it agrees at once, or refuses on command. */
export function authorize(
  { app, codes }: Oauth,
  query: URLSearchParams,
  denied: boolean,
): Response {
  const get: GetParameter = (name) => query.get(name) ?? '';
  const wrong = wrongIn(app, get);
  if (wrong !== undefined)
    return new Response(`<!DOCTYPE html><title>Something went wrong</title><p>${wrong}</p>`, {
      status: 400,
      headers: { 'content-type': 'text/html; charset=utf-8' },
    });
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
        method: get('code_challenge_method') === 'plain' ? 'plain' : 'S256',
      }),
    );
  return new Response(null, { status: 302, headers: { location: back.href } });
}

function wrongIn(app: OauthApp, get: GetParameter): string | undefined {
  const redirectUri = get('redirect_uri');
  const isKnown = app.redirectUris?.includes(redirectUri) ?? MINE.test(redirectUri);
  const stateLength = get('state').length;
  if (get('response_type') !== 'code') return 'response_type must be code';
  if (get('client_id') !== app.clientId) return 'the client_id is not known';
  if (!isKnown || !URL.canParse(redirectUri)) return 'the redirect_uri is not registered';
  if (stateLength < 1 || stateLength > 500) return 'state must have 1 to 500 characters';
  if (scopesIn(get('scope')).length === 0) return 'the scope is not known';
  if (get('code_challenge') === '') return 'code_challenge is missing';
  if (!['S256', 'plain'].includes(get('code_challenge_method')))
    return 'code_challenge_method must be S256 or plain';
  return undefined;
}

function scopesIn(text: string): Scope[] {
  const named = text.split(' ').filter((scope) => scope !== '');
  return named.every(isScope) ? named : [];
}

type Grant = (oauth: Oauth, get: (name: string) => string, witness: Witness) => Response;

interface GrantType {
  readonly needs: readonly string[];
  readonly give: Grant;
}

const wrong = (description: string): Response => refused(400, 'invalid_request', description);

const grants: Readonly<Record<string, GrantType>> = {
  refresh_token: {
    needs: ['refresh_token'],
    give: ({ app, tokens }, get, witness) => {
      const issued = tokens.refresh(get('refresh_token'));
      if (!issued)
        return refused(400, app.refusedRefresh, 'Value passed for the token was invalid.');
      witness({ kind: 'token.issued', grant: 'refresh_token' }, issued.userId);
      return json(200, tokenBody(issued));
    },
  },
  authorization_code: {
    needs: ['code', 'redirect_uri', 'code_verifier'],
    give: ({ tokens, codes }, get, witness) => {
      const agreement = codes.redeem(get('code'));
      if (!agreement) return wrong('Value passed for the authorization code was invalid.');
      if (agreement.redirectUri !== get('redirect_uri'))
        return wrong(
          'Value passed for the redirect uri did not match the uri of the authorization code.',
        );
      if (!verifies(get('code_verifier'), agreement))
        return wrong('Value passed for the code verifier did not match the code challenge.');
      witness({ kind: 'token.issued', grant: 'authorization_code' }, agreement.userId);
      return json(200, tokenBody(tokens.issue(agreement)));
    },
  },
};

/** POST /2/oauth2/token */
export async function token(oauth: Oauth, request: Request, witness: Witness): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  const stranger = strangerIn(oauth.app, request, form);
  if (stranger) return stranger;
  const type = form.get('grant_type') ?? '';
  const grant = Object.hasOwn(grants, type) ? grants[type] : undefined;
  if (!grant)
    return refused(400, 'unsupported_grant_type', 'Value passed for the grant_type was invalid.');
  const lacking = grant.needs.find((name) => !form.get(name));
  if (lacking !== undefined) return wrong(`Missing required parameter [${lacking}].`);
  return grant.give(oauth, (name) => form.get(name) ?? '', witness);
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

/** POST /2/oauth2/revoke */
export async function revoke(oauth: Oauth, request: Request, witness: Witness): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  const stranger = strangerIn(oauth.app, request, form);
  if (stranger) return stranger;
  if (oauth.tokens.revoke(form.get('token') ?? ''))
    witness({ kind: 'token.revoked' }, oauth.app.clientId);
  return json(200, { revoked: true });
}

/** POST /oauth2/token, where an app gets a token for itself. */
export async function appToken(
  oauth: Oauth,
  request: Request,
  witness: Witness,
): Promise<Response> {
  const { clientId, clientSecret } = oauth.app;
  const form = new URLSearchParams(await request.text());
  if (clientSecret === undefined || !hasSecret(request, clientId, clientSecret))
    return json(403, { errors: [{ code: 99, message: 'Unable to verify your credentials' }] });
  if (form.get('grant_type') !== 'client_credentials')
    return json(400, {
      errors: [{ code: 170, message: 'Missing required parameter: grant_type' }],
    });
  witness({ kind: 'token.issued', grant: 'client_credentials' }, clientId);
  return json(200, { token_type: 'bearer', access_token: oauth.tokens.issueForApp() });
}
