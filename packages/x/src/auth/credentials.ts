import type { PackLog } from '@toolkeel/contract';
import type { SecretSource, XConfig } from '../config.js';
import type { Connections } from '../http/connections.js';
import { urlUnder } from '../http/url.js';
import type { Redactor } from '@toolkeel/pack-kit';
import { readSecret, type Environment } from '../secrets.js';
import { fixedCredential, type Credential } from './credential.js';
import { keptLogin } from './kept-login.js';
import type { TokenEndpoint } from './token-endpoint.js';

export interface CredentialSurroundings {
  readonly env: Environment;
  readonly connections: Connections;
  readonly secrets: Redactor;
  readonly log: PackLog;
  readonly wallNow: () => number;
}

export interface Credentials {
  readonly app: Credential | undefined;
  readonly user: Credential | undefined;
}

/** What the configuration names. A secret that is named and not there is refused, by its setting. */
export function createCredentials(config: XConfig, given: CredentialSurroundings): Credentials {
  const { bearerToken, accessToken, tokenFile } = config;
  const app = bearerToken && fixedCredential('app', secretOf(bearerToken, 'bearerToken', given));
  const user = accessToken
    ? fixedCredential('user', secretOf(accessToken, 'accessToken', given))
    : tokenFile === undefined
      ? undefined
      : keptLogin({
          path: tokenFile,
          endpoint: tokenEndpoint(config, given),
          callMs: 1000 * config.toolTimeoutSecs,
          ...given,
        });
  return { app, user };
}

function tokenEndpoint(
  { baseUrl, clientSecret: source }: XConfig,
  given: CredentialSurroundings,
): TokenEndpoint {
  const { connections, secrets, wallNow } = given;
  const clientSecret = source && secretOf(source, 'clientSecret', given);
  const url = urlUnder(baseUrl, ['2', 'oauth2', 'token']);
  return { url, clientSecret, connections, secrets, wallNow };
}

function secretOf(
  source: SecretSource,
  setting: string,
  { env, secrets }: CredentialSurroundings,
): string {
  const secret = readSecret(source, setting, env);
  secrets.add(secret);
  return secret;
}
