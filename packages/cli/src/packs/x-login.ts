import {
  ConfigError,
  configSchema,
  DEFAULT_REDIRECT_PORT,
  loginX,
  lookAtLogin,
  readSecret,
} from '@toolkeel/x/pack';
import type { Finding, LoggedIn, LoginRequest } from './pack.js';
import { UsageError } from '../errors.js';
import { xLoginFile } from './x.js';

/** Lets a person allow us to act at X, and keeps what X gives for it. */
export async function logIntoX(request: LoginRequest): Promise<LoggedIn> {
  const { settings, env, scopes, port, timeoutMs, signal, onUrl, onStranger } = request;
  const config = configSchema.parse(settings);
  const { baseUrl, authorizeUrl, clientSecret: source } = config;
  const clientId = request.clientId ?? config.clientId;
  if (clientId === undefined || clientId.trim() === '') {
    throw new UsageError(
      'X has to know which app asks: say --client-id ID, or set TOOLKEEL_X_CLIENT_ID or packs.x.clientId. ' +
        `X gives one to an app that has http://127.0.0.1:${DEFAULT_REDIRECT_PORT}/callback as its callback.`,
    );
  }
  refuseUnknownAuthorizePage(settings);
  const file = config.tokenFile ?? xLoginFile(request.dataDir);
  const clientSecret = source && readSecret(source, 'packs.x.clientSecret', env);
  const { username } = await loginX({
    clientId,
    tokenFile: file,
    baseUrl,
    authorizeUrl,
    signal,
    onUrl,
    onStranger,
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
        'accessToken is set as well, and it goes before this login: take it out of packs.x, or unset TOOLKEEL_X_ACCESS_TOKEN.',
    }),
  };
}

/** X's own page would give a code that another API cannot exchange, and show X which app asked. */
function refuseUnknownAuthorizePage(settings: unknown): void {
  const { baseUrl } = configSchema.parse(settings);
  const isGiven = typeof settings === 'object' && settings !== null && 'authorizeUrl' in settings;
  if (isGiven || new URL(baseUrl).origin === new URL(configSchema.parse({}).baseUrl).origin) return;
  throw new UsageError(
    `packs.x.baseUrl is ${new URL(baseUrl).origin}, and the page where a person allows the app is not set: ` +
      'set TOOLKEEL_X_AUTHORIZE_URL or packs.x.authorizeUrl.',
  );
}

const what = 'x: login';

/** Whether somebody is logged in, and whether only its owner can read that. */
export async function checkXLogin(settings: unknown): Promise<readonly Finding[]> {
  const { tokenFile, accessToken, bearerToken } = configSchema.parse(settings);
  if (accessToken || tokenFile === undefined) return [];
  const advice = 'Log in: toolkeel login x';
  try {
    const login = await lookAtLogin(tokenFile);
    if (!login) {
      const detail = `nobody is logged in, so that only public reads are possible`;
      return bearerToken ? [{ status: 'warn', what, detail, advice }] : [];
    }
    const { username, isRenewable, expiresAt } = login;
    const who = username === undefined ? 'somebody' : `@${username}`;
    const detail = `${who}, in ${tokenFile}, which only you can read`;
    return isRenewable || expiresAt > Date.now()
      ? [{ status: 'ok', what, detail }]
      : [{ status: 'fail', what, detail: `${detail}; it has expired`, advice }];
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return [
      { status: 'fail', what, detail: cause.message, advice: `${advice}, or mend the file.` },
    ];
  }
}
