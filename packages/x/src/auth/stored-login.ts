import { existsSync } from 'node:fs';
import type { PackLog } from '@toolkeel/contract';
import { FaultError, type Fault } from '@toolkeel/kernel';
import { classify } from '@toolkeel/pack-kit';
import { noLogin } from '../faults.js';
import { fingerprintOf, notRenewable, type Credential } from './credential.js';
import { lock } from './lock.js';
import {
  notWritable,
  resolveLoginPath,
  readLogin,
  loginFileVersion,
  type Login,
} from './login-file.js';
import { requestTokens, type TokenEndpoint } from './token-endpoint.js';
import { unsavedLogin, type UnsavedLogin } from './unsaved-login.js';

export interface StoredLoginOptions {
  readonly path: string;
  readonly endpoint: TokenEndpoint;
  readonly log: PackLog;
  readonly wallNow: () => number;
  /** The longest that a call which waits for a renewal may take. */
  readonly callMs?: number;
}

/** Renews a token this early, so that it does not expire in flight. */
const EARLY_MS = 30_000;
/** X has rejected valid tokens for hours: a token this new is not worth another refresh token. */
const TOO_NEW_MS = 60_000;
/**
 * Bounds of the renewal timeout. It is at least that of the waiting call, because a later attempt of the call
 * would send the same refresh token again, and long, because a late response has the only valid token.
 */
const RENEWAL_MS = { min: 10_000, max: 30_000 } as const;

/** A login in a file that several processes share. */
export function storedLogin(options: StoredLoginOptions): Credential {
  const { path, wallNow } = options;
  const { secrets } = options.endpoint;
  let stored: Login | undefined;
  let version: string | undefined;
  let renewal: Promise<Login> | undefined;
  const rejectedTokens: RejectedTokens = new Map();
  const unsaved = unsavedLogin({ ...options, secrets });

  /** Checks the file before every use, so that a new login takes effect in running processes. */
  const current = (): Login => {
    const found = loginFileVersion(path);
    if (found !== version) stored = readLogin(path, secrets);
    version = found;
    if (!stored) throw noLogin();
    return unsaved.currentFor(stored);
  };
  const readIfPresent = (): Login | undefined => {
    try {
      return current();
    } catch {
      return undefined;
    }
  };
  /** One renewal at a time. It continues if its caller aborts, or the new tokens would be lost. */
  const renewed = (rejected: string): Promise<Login> =>
    (renewal ??= renewLogin(rejected, options, rejectedTokens, unsaved).finally(() => {
      renewal = undefined;
    }));

  return {
    kind: 'user',
    exists: () => existsSync(path),
    login: () => readIfPresent()?.login_id,
    user: () => readIfPresent()?.user?.id,
    fingerprint: () => fingerprintOf('login', readIfPresent()?.login_id ?? ''),
    async token(signal) {
      const login = current();
      void unsaved.retrySave();
      if (!isDue(login, wallNow())) return login.access_token;
      const fresh = await abortable(renewed(login.access_token), signal);
      return fresh.access_token;
    },
    async renew(rejected, signal) {
      await abortable(renewed(rejected), signal);
    },
    isExpired: () => {
      const login = current();
      const { refresh_token: refreshToken } = login;
      const isRenewable = refreshToken !== undefined && !rejectedTokens.has(refreshToken);
      return isDue(login, wallNow()) && !isRenewable;
    },
    scopes: async () => current().scopes,
    close: () => unsaved.close(),
  };
}

const isDue = ({ expires_at: end }: Login, now: number): boolean => end - EARLY_MS <= now;

/** Rejected refresh tokens, which X would reject again. */
type RejectedTokens = Map<string, Fault>;

/** A refresh token is valid for one use, so only one process may send it. */
async function renewLogin(
  rejected: string,
  options: StoredLoginOptions,
  rejectedTokens: RejectedTokens,
  unsaved: UnsavedLogin,
): Promise<Login> {
  const { endpoint, wallNow, callMs = 0 } = options;
  const path = resolveLoginPath(options.path);
  const { min, max } = RENEWAL_MS;
  const signal = AbortSignal.timeout(Math.min(Math.max(callMs, min), max));
  const held = await lock(path, { signal, wallNow }).catch((cause: unknown) => {
    if (!signal.aborted) throw notWritable(options.path, cause);
    throw new FaultError({ kind: 'timeout', sent: 'no', clock: 'login lock', cause });
  });
  try {
    const saved = readLogin(path, endpoint.secrets);
    if (!saved) throw noLogin();
    const login = unsaved.currentFor(saved);
    // Another process has renewed it meanwhile.
    if (login.access_token !== rejected && login.expires_at > wallNow()) return login;
    const { refresh_token: refreshToken } = login;
    const isNew = wallNow() - login.obtained_at < TOO_NEW_MS && !isDue(login, wallNow());
    if (refreshToken === undefined || isNew) throw notRenewable();
    const rejection = rejectedTokens.get(refreshToken);
    if (rejection) throw new FaultError(rejection);
    if (!(await held.isHeld())) {
      throw new FaultError({ kind: 'timeout', sent: 'no', clock: 'login lock' });
    }
    rejectedTokens.clear();
    const next = await requestNext(login, refreshToken, endpoint, signal).catch(
      (cause: unknown) => {
        const fault = asRefreshFault(cause);
        if (isFinalRejection(fault)) rejectedTokens.set(refreshToken, fault);
        throw new FaultError(fault);
      },
    );
    // A full disk must not prevent the use of the tokens in memory.
    await unsaved.write(path, next, saved);
    return next;
  } finally {
    await held.release();
  }
}

async function requestNext(
  login: Login,
  refreshToken: string,
  endpoint: TokenEndpoint,
  signal: AbortSignal,
): Promise<Login> {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
  const grant = await requestTokens(endpoint, login.client_id, form, signal);
  const now = endpoint.wallNow();
  return {
    ...login,
    access_token: grant.accessToken,
    refresh_token: grant.refreshToken ?? refreshToken,
    obtained_at: now,
    expires_at: now + grant.expiresInMs,
    scopes: grant.scopes.length > 0 ? [...grant.scopes] : login.scopes,
  };
}

/** A rejected renewal is an auth fault. In every case the call itself was not sent. */
function asRefreshFault(cause: unknown): Fault {
  // The rate limits of the token endpoint do not apply to other endpoints.
  const { limits: _, ...fault } = classify(cause);
  const kind = fault.kind === 'rejected' ? 'auth' : fault.kind;
  // A refresh token that was sent may be used up, so the same call does not send it again.
  const mayBeUsedUp = fault.sent !== 'no' && kind !== 'rate_limited';
  return { ...fault, kind, sent: 'no', ...(mayBeUsedUp && { final: true }) };
}

/** Other rejections can come from an intermediary and be temporary. */
function isFinalRejection({ kind, status }: Fault): boolean {
  return kind === 'auth' && (status === 400 || status === 401);
}

async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  // Prevents an unhandled rejection if the caller has aborted.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
