import type { JsonObject } from '../../json.js';
import { hasSecret, json, refused, strangerIn, type Oauth, type Witness } from './client.js';
import { verifies } from './codes.js';
import type { IssuedTokens } from './tokens.js';

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
