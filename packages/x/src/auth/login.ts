import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FaultError } from '@toolkeel/kernel';
import { createRedactor } from '@toolkeel/pack-kit';
import { classify } from '../faults.js';
import { createConnections } from '../http/connections.js';
import { read } from '../http/exchange.js';
import { urlUnder } from '../http/url.js';
import { docOf, textOf } from '../json.js';
import { authorizationCode, type Callback, type Page } from './callback.js';
import { LoginError } from './login-error.js';
import { lock } from './lock.js';
import {
  DEFAULT_REDIRECT_PORT,
  defaultScopes,
  type LoginOptions,
  type LoginResult,
} from './login-x.js';
import { cannotWrite, fileBehind, writeLogin, writingProblem, type Login } from './login-file.js';
import { requestTokens, type TokenEndpoint } from './token-endpoint.js';

const FIVE_MINUTES_MS = 300_000;
const EXCHANGE_TIMEOUT_MS = 20_000;
/** For what is only shown: the browser waits for it. */
const WHO_TIMEOUT_MS = 5_000;

export async function login(options: LoginOptions): Promise<LoginResult> {
  const { onUrl, scopes = defaultScopes } = options;
  await prepare(options.tokenFile);
  const verifier = randomBytes(48).toString('base64url');
  const state = randomBytes(32).toString('base64url');
  const signal = AbortSignal.any([
    AbortSignal.timeout(options.timeoutMs ?? FIVE_MINUTES_MS),
    ...(options.signal ? [options.signal] : []),
  ]);
  const port = options.port ?? DEFAULT_REDIRECT_PORT;
  const callback = await authorizationCode({
    port,
    state,
    signal,
    onListening: (uri) => onUrl(authorizeUrl(options, { uri, state, verifier, scopes })),
    onStranger: options.onStranger ?? (() => undefined),
  });
  try {
    const result = await exchange(options, callback, verifier);
    callback.finish(LOGGED_IN);
    return result;
  } catch (cause) {
    callback.finish(failurePage(cause));
    throw cause;
  }
}

const LOGGED_IN: Page = { status: 200, text: 'You are logged in. You can close this page.' };

/** A `LoginError` holds no code and no token; of any other error only the terminal is told. */
function failurePage(cause: unknown): Page {
  const why = cause instanceof LoginError ? `: ${cause.message}` : '';
  return {
    status: 502,
    text: `The login failed${why}. The terminal that you began it in shows more. You can close this page.`,
  };
}

/** Exchanges the code for tokens and keeps them. Takes less than a minute. */
async function exchange(
  options: LoginOptions,
  { code, redirectUri }: Callback,
  verifier: string,
): Promise<LoginResult> {
  const { clientId, tokenFile, scopes = defaultScopes } = options;
  const { baseUrl = 'https://api.x.com' } = options;
  const connections = createConnections(EXCHANGE_TIMEOUT_MS);
  try {
    const wallNow = Date.now;
    const secrets = createRedactor();
    for (const one of [options.clientSecret, code, verifier])
      if (one !== undefined) secrets.add(one);
    const url = urlUnder(baseUrl, ['2', 'oauth2', 'token']);
    const endpoint = { url, clientSecret: options.clientSecret, connections, secrets, wallNow };
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    };
    const inTime = AbortSignal.timeout(EXCHANGE_TIMEOUT_MS);
    const grant = await requestTokens(endpoint, clientId, form, inTime).catch(explain);
    const user = await whoIs(grant.accessToken, urlUnder(baseUrl, ['2', 'users', 'me']), {
      connections,
      secrets,
    });
    const now = wallNow();
    const kept: Login = {
      version: 1,
      login_id: randomBytes(9).toString('base64url'),
      client_id: clientId,
      access_token: grant.accessToken,
      ...(grant.refreshToken !== undefined && { refresh_token: grant.refreshToken }),
      obtained_at: now,
      expires_at: now + grant.expiresInMs,
      scopes: grant.scopes.length > 0 ? [...grant.scopes] : [...scopes],
      ...(user && { user }),
    };
    await keep(tokenFile, kept);
    return {
      username: user?.username,
      userId: user?.id,
      scopes: kept.scopes,
      expiresAt: kept.expires_at,
    };
  } finally {
    await connections.close();
  }
}

/** The person agreed, and then X gave no token. */
function explain(cause: unknown): never {
  const fault = cause instanceof FaultError ? cause.fault : classify(cause);
  const { kind, status } = fault;
  const why =
    kind === 'auth' || kind === 'rejected'
      ? 'X refused to give a token: look whether client id and secret are those of the app, and whether it knows this callback'
      : 'X gave no token: try again later';
  throw new LoginError(status === undefined ? why : `${why} (${status})`, { cause });
}

interface Asked {
  readonly uri: string;
  readonly state: string;
  readonly verifier: string;
  readonly scopes: readonly string[];
}

function authorizeUrl(
  { authorizeUrl: page = 'https://x.com/i/oauth2/authorize', clientId }: LoginOptions,
  { uri, state, verifier, scopes }: Asked,
): string {
  const url = new URL(page);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: uri,
    scope: scopes.join(' '),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  return url.href;
}

/** Before anybody is asked to agree: what cannot be kept would be lost. */
async function prepare(path: string): Promise<void> {
  await mkdir(dirname(fileBehind(path)), { recursive: true, mode: 0o700 }).catch(
    (cause: unknown) => {
      throw cannotWrite(path, cause);
    },
  );
  const problem = await writingProblem(path);
  if (problem) throw problem;
}

/** Not while another process renews the login that is replaced: it would put the old one back. */
async function keep(name: string, kept: Login): Promise<void> {
  const path = fileBehind(name);
  const signal = AbortSignal.timeout(EXCHANGE_TIMEOUT_MS);
  try {
    const mine = await lock(path, { signal });
    try {
      await writeLogin(path, kept);
    } finally {
      await mine.release();
    }
  } catch (cause) {
    throw cannotWrite(name, cause);
  }
}

/** Only for telling the person which account it was: the login is good without it. */
async function whoIs(
  token: string,
  url: URL,
  { connections, secrets }: Pick<TokenEndpoint, 'connections' | 'secrets'>,
): Promise<Login['user']> {
  try {
    const { doc } = await read(
      { method: 'GET', url },
      {
        connections,
        authorization: `Bearer ${token}`,
        secrets,
        maxBytes: 65_536,
        signal: AbortSignal.timeout(WHO_TIMEOUT_MS),
        wallNow: Date.now,
      },
    );
    const data = docOf(doc['data']);
    const id = textOf(data?.['id']);
    const username = textOf(data?.['username']);
    return id !== undefined && username !== undefined ? { id, username } : undefined;
  } catch {
    return undefined;
  }
}
