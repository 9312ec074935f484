import {
  ConfigError,
  configSchema,
  DEFAULT_REDIRECT_PORT,
  loginX,
  lookAtLogin,
  readToken,
} from '@toolkeel/x/pack';
import { UsageError } from '../errors.js';
import type { Finding, LoggedIn, LoginRequest } from './pack.js';
import { xLoginFile } from './x.js';

/** Runs the OAuth login at X and stores the tokens. */
export async function logIntoX(request: LoginRequest): Promise<LoggedIn> {
  const { settings, env, scopes, port, timeoutMs, signal, onUrl, onStranger } = request;
  const config = configSchema.parse(settings);
  const { baseUrl, authorizeUrl, clientSecret: source } = config;
  const clientId = request.clientId ?? config.clientId;
  if (clientId === undefined || clientId.trim() === '') {
    throw new UsageError(
      'The login at X requires a client id: use --client-id ID, or set TOOLKEEL_X_CLIENT_ID or packs.x.clientId. ' +
        `Create an app at X with the callback http://127.0.0.1:${DEFAULT_REDIRECT_PORT}/callback to get one.`,
    );
  }
  refuseUnknownAuthorizePage(settings);
  const file = config.tokenFile ?? xLoginFile(request.dataDir);
  const clientSecret = source && readToken(source, 'packs.x.clientSecret', env);
  const { username } = await loginX({
    clientId,
    tokenFile: file,
    baseUrl,
    authorizeUrl,
    signal,
    onUrl,
    onStateMismatch: onStranger,
    ...(clientSecret !== undefined && { clientSecret }),
    ...(scopes && { scopes }),
    ...(port !== undefined && { port }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  return {
    file,
    name: username === undefined ? undefined : `@${username}`,
    ...(config.accessToken && {
      unused:
        'accessToken is set and takes precedence over the login. Remove it from packs.x, or unset TOOLKEEL_X_ACCESS_TOKEN.',
    }),
  };
}

/** The page of X itself would issue a code that another API cannot exchange. */
function refuseUnknownAuthorizePage(settings: unknown): void {
  const { baseUrl } = configSchema.parse(settings);
  const isGiven = typeof settings === 'object' && settings !== null && 'authorizeUrl' in settings;
  if (isGiven || new URL(baseUrl).origin === new URL(configSchema.parse({}).baseUrl).origin) return;
  throw new UsageError(
    `packs.x.baseUrl is ${new URL(baseUrl).origin}, but no authorization page is set for it. ` +
      'Set TOOLKEEL_X_AUTHORIZE_URL or packs.x.authorizeUrl.',
  );
}

const what = 'x: login';

/** Checks that a login exists and that only its owner can read it. */
export async function checkXLogin(settings: unknown): Promise<readonly Finding[]> {
  const { tokenFile, accessToken, bearerToken } = configSchema.parse(settings);
  if (accessToken || tokenFile === undefined) return [];
  const advice = 'Log in: toolkeel login x';
  try {
    const login = await lookAtLogin(tokenFile);
    if (!login) {
      const detail = 'not logged in; only public reads work';
      return bearerToken ? [{ status: 'warn', what, detail, advice }] : [];
    }
    const { username, isRenewable, expiresAt } = login;
    const who = username === undefined ? 'logged in' : `@${username}`;
    const detail = `${who}, in ${tokenFile}, readable only by you`;
    return isRenewable || expiresAt > Date.now()
      ? [{ status: 'ok', what, detail }]
      : [{ status: 'fail', what, detail: `${detail}; it has expired`, advice }];
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return [
      { status: 'fail', what, detail: cause.message, advice: `${advice}, or repair the file.` },
    ];
  }
}
