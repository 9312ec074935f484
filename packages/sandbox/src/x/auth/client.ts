import type { JsonObject } from '../../json.js';
import type { Act } from '../commits.js';
import type { Codes } from './codes.js';
import type { Tokens } from './tokens.js';

export interface OauthApp {
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

export function json(status: number, body: JsonObject): Response {
  const headers = { 'content-type': 'application/json;charset=utf-8', 'cache-control': 'no-store' };
  return new Response(JSON.stringify(body), { status, headers });
}

export function refused(status: number, error: string, description: string): Response {
  return json(status, { error, error_description: description });
}

/** Who asks must be the app: by its secret if it has one, else by its name. */
export function strangerIn(
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

export function hasSecret(request: Request, clientId: string, secret: string): boolean {
  const [scheme, given = ''] = (request.headers.get('authorization') ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic') return false;
  const [id, ...rest] = Buffer.from(given, 'base64').toString().split(':');
  return id === encodeURIComponent(clientId) && rest.join(':') === encodeURIComponent(secret);
}
