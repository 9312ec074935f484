import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FaultError } from '@toolkeel/kernel';
import {
  classify,
  createConnections,
  createRedactor,
  objectOf,
  read,
  stringOf,
  urlUnder,
} from '@toolkeel/pack-kit';
import { authorizationCode, type Callback, type BrowserPage } from './callback.js';
import { lock } from './lock.js';
import {
  notWritable,
  resolveLoginPath,
  writeLogin,
  checkWritable,
  type Login,
} from './login-file.js';
import {
  DEFAULT_REDIRECT_PORT,
  defaultScopes,
  LoginError,
  type LoginOptions,
  type LoginResult,
} from './login-x.js';
import { requestTokens, type TokenEndpoint } from './token-endpoint.js';

const FIVE_MINUTES_MS = 300_000;
const EXCHANGE_TIMEOUT_MS = 20_000;
/** Short, because the browser waits and the name is only displayed. */
const USER_TIMEOUT_MS = 5_000;

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
    onStateMismatch: options.onStateMismatch ?? (() => undefined),
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

const LOGGED_IN: BrowserPage = { status: 200, text: 'You are logged in. You can close this page.' };

/** The message of a `LoginError` contains no code or token; other errors are shown only in the terminal. */
function failurePage(cause: unknown): BrowserPage {
  const why = cause instanceof LoginError ? `: ${cause.message}` : '';
  return {
    status: 502,
    text: `The login failed${why}. See the terminal for details. You can close this page.`,
  };
}

/** Exchanges the code for tokens and saves them. */
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
    for (const secret of [options.clientSecret, code, verifier])
      if (secret !== undefined) secrets.add(secret);
    const url = urlUnder(baseUrl, '2', 'oauth2', 'token');
    const endpoint = { url, clientSecret: options.clientSecret, connections, secrets, wallNow };
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    };
    const inTime = AbortSignal.timeout(EXCHANGE_TIMEOUT_MS);
    const grant = await requestTokens(endpoint, clientId, form, inTime).catch(explain);
    const user = await fetchUser(grant.accessToken, urlUnder(baseUrl, '2', 'users', 'me'), {
      connections,
      secrets,
    });
    const now = wallNow();
    const saved: Login = {
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
    await save(tokenFile, saved);
    return {
      username: user?.username,
      userId: user?.id,
      scopes: saved.scopes,
      expiresAt: saved.expires_at,
    };
  } finally {
    await connections.close();
  }
}

/** The user authorized the app, but the token request failed. */
function explain(cause: unknown): never {
  const fault = cause instanceof FaultError ? cause.fault : classify(cause);
  const { kind, status } = fault;
  const why =
    kind === 'auth' || kind === 'rejected'
      ? 'X rejected the token request: check the client id, the client secret and the registered callback URL'
      : 'X returned no token: try again later';
  throw new LoginError(status === undefined ? why : `${why} (${status})`, { cause });
}

interface Authorization {
  readonly uri: string;
  readonly state: string;
  readonly verifier: string;
  readonly scopes: readonly string[];
}

function authorizeUrl(
  { authorizeUrl: page = 'https://x.com/i/oauth2/authorize', clientId }: LoginOptions,
  { uri, state, verifier, scopes }: Authorization,
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

/** Runs before the user authorizes the app, because an unsaved login would be lost. */
async function prepare(path: string): Promise<void> {
  await mkdir(dirname(resolveLoginPath(path)), { recursive: true, mode: 0o700 }).catch(
    (cause: unknown) => {
      throw notWritable(path, cause);
    },
  );
  const problem = await checkWritable(path);
  if (problem) throw problem;
}

/** Takes the lock, or a process that renews the old login would overwrite the new one. */
async function save(name: string, saved: Login): Promise<void> {
  const path = resolveLoginPath(name);
  const signal = AbortSignal.timeout(EXCHANGE_TIMEOUT_MS);
  try {
    const held = await lock(path, { signal });
    try {
      await writeLogin(path, saved);
    } finally {
      await held.release();
    }
  } catch (cause) {
    throw notWritable(name, cause);
  }
}

/** The user for display; the login is valid without it. */
async function fetchUser(
  token: string,
  url: URL,
  { connections, secrets }: Pick<TokenEndpoint, 'connections' | 'secrets'>,
): Promise<Login['user']> {
  try {
    const { json } = await read(
      { method: 'GET', url, headers: { authorization: `Bearer ${token}` } },
      {
        connections,
        secrets,
        trusted: new Set([url.origin]),
        maxBytes: 65_536,
        maxRedirects: 0,
        signal: AbortSignal.timeout(USER_TIMEOUT_MS),
        wallNow: Date.now,
      },
    );
    const data = objectOf(objectOf(json)?.['data']);
    const id = stringOf(data?.['id']);
    const username = stringOf(data?.['username']);
    return id !== undefined && username !== undefined ? { id, username } : undefined;
  } catch {
    return undefined;
  }
}
