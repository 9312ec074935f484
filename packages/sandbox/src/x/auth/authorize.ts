import type { Oauth, OauthApp } from './client.js';
import { isScope, type Scope } from './scopes.js';

type Get = (name: string) => string;

const MINE = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$)/;

/** The page that asks a user. There is nobody to ask: it agrees at once, or refuses on command. */
export function authorize(
  { app, codes }: Oauth,
  query: URLSearchParams,
  denied: boolean,
): Response {
  const get: Get = (name) => query.get(name) ?? '';
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

function wrongIn(app: OauthApp, get: Get): string | undefined {
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
