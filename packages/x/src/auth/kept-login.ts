import { existsSync } from 'node:fs';
import type { PackLog } from '@toolkeel/contract';
import { FaultError, type Fault } from '@toolkeel/kernel';
import { classify } from '../faults.js';
import { noLogin } from '../not-configured.js';
import { fingerprintOf, notRenewable, type Credential } from './credential.js';
import { lock } from './lock.js';
import { cannotWrite, fileBehind, readLogin, stampOfLogin, type Login } from './login-file.js';
import { requestTokens, type TokenEndpoint } from './token-endpoint.js';
import { unsavedLogin, type UnsavedLogin } from './unsaved-login.js';

export interface KeptLoginOptions {
  readonly path: string;
  readonly endpoint: TokenEndpoint;
  readonly log: PackLog;
  readonly wallNow: () => number;
  /** How long a call may take that waits for a renewal. */
  readonly callMs?: number;
}

/** A token is replaced a little before its end, so that it does not end on the way. */
const EARLY_MS = 30_000;
/** X has refused good tokens for hours: one that is this new is not worth another refresh token. */
const TOO_NEW_MS = 60_000;
/**
 * How long a renewal may take: no shorter than the call that waits for it, or a later attempt of that call
 * would send the same refresh token again; and long, because a late answer has the only one that is good.
 */
const RENEWAL_MS = { least: 10_000, most: 30_000 } as const;

/** A login that is kept in a file and shared by all processes that use it. */
export function keptLogin(options: KeptLoginOptions): Credential {
  const { path, wallNow } = options;
  const { secrets } = options.endpoint;
  let kept: Login | undefined;
  let seen: string | undefined;
  let renewal: Promise<Login> | undefined;
  const refusals: Refusals = new Map();
  const unsaved = unsavedLogin({ ...options, secrets });

  /** Looked at before every use: whoever logs in anew means all who run. */
  const look = (): Login => {
    const stamp = stampOfLogin(path);
    if (stamp !== seen) kept = readLogin(path, secrets);
    seen = stamp;
    if (!kept) throw noLogin();
    return unsaved.insteadOf(kept);
  };
  const lookIfThere = (): Login | undefined => {
    try {
      return look();
    } catch {
      return undefined;
    }
  };
  /** One renewal at a time. It goes on when a caller leaves: it would take the tokens with it. */
  const renewed = (rejected: string): Promise<Login> =>
    (renewal ??= renewLogin(rejected, options, refusals, unsaved).finally(() => {
      renewal = undefined;
    }));

  return {
    kind: 'user',
    isThere: () => existsSync(path),
    login: () => lookIfThere()?.login_id,
    user: () => lookIfThere()?.user?.id,
    fingerprint: () => fingerprintOf('login', lookIfThere()?.login_id ?? ''),
    async token(signal) {
      const login = look();
      void unsaved.tryAgain();
      if (!isDue(login, wallNow())) return login.access_token;
      const fresh = await unlessAborted(renewed(login.access_token), signal);
      return fresh.access_token;
    },
    async renew(rejected, signal) {
      await unlessAborted(renewed(rejected), signal);
    },
    isOver: () => {
      const login = look();
      const { refresh_token: refreshToken } = login;
      const isRenewable = refreshToken !== undefined && !refusals.has(refreshToken);
      return isDue(login, wallNow()) && !isRenewable;
    },
    scopes: async () => look().scopes,
    close: () => unsaved.close(),
  };
}

const isDue = ({ expires_at: end }: Login, now: number): boolean => end - EARLY_MS <= now;

/** What X said of the last refresh token that it refused: it says the same every time. */
type Refusals = Map<string, Fault>;

/** Refresh tokens are good for one use, so only one process may use one. */
async function renewLogin(
  rejected: string,
  options: KeptLoginOptions,
  refusals: Refusals,
  unsaved: UnsavedLogin,
): Promise<Login> {
  const { endpoint, wallNow, callMs = 0 } = options;
  const path = fileBehind(options.path);
  const { least, most } = RENEWAL_MS;
  const signal = AbortSignal.timeout(Math.min(Math.max(callMs, least), most));
  const mine = await lock(path, { signal, wallNow }).catch((cause: unknown) => {
    if (!signal.aborted) throw cannotWrite(options.path, cause);
    throw new FaultError({ kind: 'timeout', sent: 'no', clock: 'login lock', cause });
  });
  try {
    const kept = readLogin(path, endpoint.secrets);
    if (!kept) throw noLogin();
    const login = unsaved.insteadOf(kept);
    // Somebody else was faster.
    if (login.access_token !== rejected && login.expires_at > wallNow()) return login;
    const { refresh_token: refreshToken } = login;
    const isNew = wallNow() - login.obtained_at < TOO_NEW_MS && !isDue(login, wallNow());
    if (refreshToken === undefined || isNew) throw notRenewable();
    const refusal = refusals.get(refreshToken);
    if (refusal) throw new FaultError(refusal);
    if (!(await mine.held())) {
      throw new FaultError({ kind: 'timeout', sent: 'no', clock: 'login lock' });
    }
    refusals.clear();
    const next = await requestNext(login, refreshToken, endpoint, signal).catch(
      (cause: unknown) => {
        const fault = asRefreshFault(cause);
        if (saysItIsOver(fault)) refusals.set(refreshToken, fault);
        throw new FaultError(fault);
      },
    );
    // What is in memory still works: a disk that is full must not end that, too.
    await unsaved.write(path, next, kept);
    return next;
  } finally {
    await mine.release();
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

/** A refusal means that the login is over; whatever else went wrong, the call itself was not sent. */
function asRefreshFault(cause: unknown): Fault {
  // Its limits are the token endpoint's, and hold nothing else back.
  const { limits: _theirs, ...fault } = classify(cause);
  const kind = fault.kind === 'rejected' ? 'auth' : fault.kind;
  // Once it is on its way it may be used up: whether to send it again is not for the same call to say.
  const mayBeUsedUp = fault.sent !== 'no' && kind !== 'rate_limited';
  return { ...fault, kind, sent: 'no', ...(mayBeUsedUp && { final: true }) };
}

/** Other refusals may come from somebody in between, and pass. */
function saysItIsOver({ kind, status }: Fault): boolean {
  return kind === 'auth' && (status === 400 || status === 401);
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  // Whoever is left alone with a failure must not end the process by it.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
