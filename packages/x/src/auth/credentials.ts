import type { PackLog } from '@toolkeel/contract';
import {
  urlUnder,
  type Connections,
  type Environment,
  type Redactor,
  type SecretSource,
} from '@toolkeel/pack-kit';
import { readToken, type XConfig } from '../config.js';
import { fixedCredential, type Credential } from './credential.js';
import { storedLogin } from './stored-login.js';
import type { TokenEndpoint } from './token-endpoint.js';

interface CredentialContext {
  readonly env: Environment;
  readonly connections: Connections;
  readonly secrets: Redactor;
  readonly log: PackLog;
  readonly wallNow: () => number;
}

interface Credentials {
  readonly app: Credential | undefined;
  readonly user: Credential | undefined;
}

/** The configured credentials. Throws a `ConfigError` for a configured secret that does not exist. */
export function createCredentials(config: XConfig, given: CredentialContext): Credentials {
  const { bearerToken, accessToken, tokenFile } = config;
  const app = bearerToken && fixedCredential('app', secretOf(bearerToken, 'bearerToken', given));
  const user = accessToken
    ? fixedCredential('user', secretOf(accessToken, 'accessToken', given))
    : tokenFile === undefined
      ? undefined
      : storedLogin({
          path: tokenFile,
          endpoint: tokenEndpoint(config, given),
          callMs: 1000 * config.toolTimeoutSecs,
          ...given,
        });
  return { app, user };
}

function tokenEndpoint(
  { baseUrl, clientSecret: source }: XConfig,
  given: CredentialContext,
): TokenEndpoint {
  const { connections, secrets, wallNow } = given;
  const clientSecret = source && secretOf(source, 'clientSecret', given);
  const url = urlUnder(baseUrl, '2', 'oauth2', 'token');
  return { url, clientSecret, connections, secrets, wallNow };
}

function secretOf(
  source: SecretSource,
  setting: string,
  { env, secrets }: CredentialContext,
): string {
  const secret = readToken(source, setting, env);
  secrets.add(secret);
  return secret;
}
