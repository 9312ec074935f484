import type { PackLog } from '@toolkeel/contract';
import type { XConfig } from '../config.js';
import type { Connections } from '../http/connections.js';
import { urlUnder } from '../http/url.js';
import { readSecret, type Environment } from '../secrets.js';
import { fixedCredential, type Credential } from './credential.js';
import { keptLogin } from './kept-login.js';
import type { TokenEndpoint } from './token-endpoint.js';

export interface CredentialSurroundings {
  readonly env: Environment;
  readonly connections: Connections;
  readonly log: PackLog;
  readonly wallNow: () => number;
}

export interface Credentials {
  readonly app: Credential | undefined;
  readonly user: Credential | undefined;
}

/** What the configuration names. A secret that is named and not there is refused, by its setting. */
export function createCredentials(config: XConfig, given: CredentialSurroundings): Credentials {
  const { env } = given;
  const { bearerToken, accessToken, tokenFile } = config;
  const app = bearerToken && fixedCredential('app', readSecret(bearerToken, 'bearerToken', env));
  const user = accessToken
    ? fixedCredential('user', readSecret(accessToken, 'accessToken', env))
    : tokenFile === undefined
      ? undefined
      : keptLogin({ path: tokenFile, endpoint: tokenEndpoint(config, given), ...given });
  return { app, user };
}

function tokenEndpoint(
  { baseUrl, clientSecret: source }: XConfig,
  { env, connections, wallNow }: CredentialSurroundings,
): TokenEndpoint {
  const clientSecret = source && readSecret(source, 'clientSecret', env);
  return { url: urlUnder(baseUrl, ['2', 'oauth2', 'token']), clientSecret, connections, wallNow };
}
