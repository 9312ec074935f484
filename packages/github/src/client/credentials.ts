import { createHash } from 'node:crypto';
import { executeWithRetry, FaultError, type Clock, type RetryPolicy } from '@toolkeel/kernel';
import {
  classify,
  ConfigError,
  memberOf,
  objectOf,
  stringOf,
  urlUnder,
  type HttpRequest,
  type HttpResponse,
  type Redactor,
} from '@toolkeel/pack-kit';
import { githubErrorOf } from './faults.js';
import type { Cost } from './limits.js';

/** Identifies a client to GitHub. */
export interface Credential {
  readonly kind: 'token' | 'app';
  /** Not a secret. Requests with the same key share rate limits and the ETag cache. */
  readonly key: string;
  readonly token: (signal: AbortSignal) => Promise<string>;
  /** Replaces a token that GitHub rejected. Rejects if there is no other. */
  readonly renew: (rejected: string, signal: AbortSignal) => Promise<void>;
  /** What an installation token may do; undefined for tokens that do not say. */
  readonly permissions?: (signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;
}

const fingerprint = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 16);

/** A personal access token, or any other token that does not change. */
export function tokenCredential(
  token: string | (() => string) | undefined,
  secrets: Redactor,
): Credential {
  if (token === undefined)
    throw new TypeError('A GitHubClient needs a token; see InstallationClient for Apps.');
  const read = typeof token === 'string' ? () => token : token;
  let known: string | undefined;
  const load = (): string => {
    known ??= read();
    secrets.add(known);
    return known;
  };
  return {
    kind: 'token',
    get key() {
      return `token:${fingerprint(load())}`;
    },
    token: async () => load(),
    renew: async (rejected) => {
      // The operator may have replaced the file or the variable.
      known = undefined;
      if (load() === rejected) throw new ConfigError('GitHub rejected the token.');
    },
  };
}

export interface InstallationOptions {
  readonly appId: number | string;
  /** PEM, as PKCS#1 or PKCS#8. Escaped line breaks are accepted. */
  readonly privateKey: string | (() => string);
  readonly installationId: number;
  /** Fewer permissions than the installation has, such as `{ issues: 'write' }`. */
  readonly permissions?: Readonly<Record<string, string>> | undefined;
  /** Fewer repositories than the installation has, by name. */
  readonly repositories?: readonly string[] | undefined;
}

interface MintedToken {
  readonly token: string;
  readonly permissions: Readonly<Record<string, string>>;
  /** On GitHub's clock. */
  readonly expiresAt: number;
}

/** Tokens of installations. Shared by all clients of the process, unless a client has its own. */
export interface TokenCache {
  readonly tokens: Map<string, MintedToken>;
  /** Mints in flight, so that concurrent requests share one. */
  readonly pending: Map<string, Promise<MintedToken>>;
}

export const createTokenCache = (): TokenCache => ({ tokens: new Map(), pending: new Map() });

const processCache = createTokenCache();

interface AppDeps {
  readonly baseUrl: URL;
  readonly clock: Clock;
  readonly policy: Partial<RetryPolicy>;
  readonly secrets: Redactor;
  /** Sends one token request. */
  readonly send: (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;
  readonly cache?: TokenCache | undefined;
}

/** A token is replaced this long before it expires. */
const MARGIN_MS = 5 * 60_000;
/** `Date` has whole seconds, and the response takes time. */
const TOLERATED_SKEW_MS = 5_000;

/** The credential of a GitHub App's installation. */
export function installationCredential(options: InstallationOptions, deps: AppDeps): Credential {
  const { appId, installationId, permissions, repositories } = options;
  const { baseUrl, clock, secrets, cache = processCache } = deps;
  // The host and the app are part of the key: installation ids of two hosts can be equal.
  const key = JSON.stringify([
    baseUrl.href,
    String(appId),
    installationId,
    Object.keys(permissions ?? {})
      .toSorted()
      .map((name) => [name, permissions?.[name]]),
    [...(repositories ?? [])].toSorted(),
  ]);
  let skewMs = 0;
  const readKey = (): string => {
    const { privateKey } = options;
    const pem = typeof privateKey === 'string' ? privateKey : privateKey();
    secrets.add(pem);
    return pem;
  };

  const mintOnce = async (signal: AbortSignal): Promise<MintedToken> => {
    const { default: githubAppJwt } = await import('universal-github-app-jwt');
    const now = Math.floor((clock.wallNow() + skewMs) / 1000);
    const signing = githubAppJwt({ id: appId, privateKey: readKey(), now });
    // Its own error may quote the key.
    const { token: jwt } = await signing.catch(() => {
      throw new ConfigError(
        'packs.github.app.privateKey: is not a private key in PEM format, PKCS#1 or PKCS#8',
      );
    });
    secrets.addRotating(jwt);
    const url = urlUnder(baseUrl, 'app', 'installations', String(installationId), 'access_tokens');
    const scope = { ...(permissions && { permissions }), ...(repositories && { repositories }) };
    const request = { method: 'POST', url, headers: { authorization: `Bearer ${jwt}` } } as const;
    const { json } = await deps.send({ ...request, body: JSON.stringify(scope) }, signal);
    const token = stringOf(memberOf(json, 'token'));
    const expiresAt = Date.parse(stringOf(memberOf(json, 'expires_at')) ?? '');
    if (token === undefined || Number.isNaN(expiresAt))
      throw new FaultError({ kind: 'bad_response', sent: 'answered' });
    secrets.addRotating(token);
    const granted = Object.entries(objectOf(memberOf(json, 'permissions')) ?? {});
    const texts = granted.filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    return { token, expiresAt, permissions: Object.fromEntries(texts) };
  };

  /** A JWT that GitHub finds too early or too late is signed once more, by GitHub's clock. */
  const mintWithSkew = async (signal: AbortSignal): Promise<MintedToken> => {
    try {
      return await mintOnce(signal);
    } catch (cause) {
      const fault = cause instanceof FaultError ? cause.fault : undefined;
      const serverNow = fault?.kind === 'auth' ? githubErrorOf(fault)?.serverNow : undefined;
      if (serverNow === undefined) throw cause;
      const skew = serverNow - clock.wallNow();
      if (Math.abs(skew - skewMs) < TOLERATED_SKEW_MS) throw cause;
      skewMs = skew;
      return mintOnce(signal);
    }
  };

  /** Not bound to the signal of the request that started it: others may wait for the same token. */
  const mint = (): Promise<MintedToken> => {
    const pending = cache.pending.get(key);
    if (pending) return pending;
    const { signal } = new AbortController();
    const minting = executeWithRetry(() => mintWithSkew(signal), deps.policy, {
      clock,
      effect: 'idempotent',
      timeoutMs: MINT_TIMEOUT_MS,
    })
      .then((minted) => {
        cache.tokens.set(key, minted);
        return minted;
      })
      .finally(() => cache.pending.delete(key));
    cache.pending.set(key, minting);
    return minting;
  };

  const current = async (signal: AbortSignal): Promise<MintedToken> => {
    const known = cache.tokens.get(key);
    const isFresh = known && known.expiresAt - MARGIN_MS > clock.wallNow() + skewMs;
    const usable = isFresh ? known : await untilAborted(mint(), signal);
    // Another client may have minted it, with a redactor of its own.
    secrets.addRotating(usable.token);
    return usable;
  };

  return {
    kind: 'app',
    key: `installation:${fingerprint(key)}`,
    token: async (signal) => (await current(signal)).token,
    permissions: async (signal) => (await current(signal)).permissions,
    renew: async (rejected, signal) => {
      if (cache.tokens.get(key)?.token === rejected) cache.tokens.delete(key);
      if (!cache.tokens.has(key)) await untilAborted(mint(), signal);
    },
  };
}

const MINT_TIMEOUT_MS = 30_000;

/** What a token request costs. */
export const MINT: Cost = {
  resource: 'core',
  endpoint: 'POST /app/installations/{id}/access_tokens',
  isMutation: true,
  createsContent: false,
};

/** Without a token the request was not sent, and its resource was not refused: the credential was. */
export function unsent(cause: unknown): never {
  const fault = classify(cause);
  const isRefused = fault.kind === 'rejected' && githubErrorOf(fault) !== undefined;
  throw new FaultError({
    ...fault,
    sent: 'no',
    // Another token would be refused in the same way.
    ...(isRefused && { kind: 'auth', final: true }),
  });
}

/** The promise, or a rejection with the signal's reason as soon as it aborts. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
