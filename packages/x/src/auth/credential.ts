import { createHash } from 'node:crypto';
import { FaultError } from '@toolkeel/kernel';

export type CredentialKind = 'app' | 'user';

/** Who we are to X. */
export interface Credential {
  readonly kind: CredentialKind;
  /** False while a login was named, and nobody has logged in yet. */
  readonly isThere: () => boolean;
  /** The id of a kept login: another one may be another account. Undefined for a token. */
  readonly login: () => string | undefined;
  /** X's id of its user; undefined where X has to be asked for it. */
  readonly user: () => string | undefined;
  /** Tells it from other credentials, and says nothing of it. Renewing a login does not change it. */
  readonly fingerprint: () => string;
  /** The token to send, renewed first if its time is over. Throws a `FaultError` where it cannot be. */
  token(signal: AbortSignal): Promise<string>;
  /** A token that X did not accept is replaced, if it can be. */
  renew(rejected: string, signal: AbortSignal): Promise<void>;
  /** It has expired and cannot be renewed, as far as we know: somebody has to log in anew. */
  readonly isOver: () => boolean;
  /** What it was allowed to do; undefined where nobody knows. */
  scopes(): Promise<readonly string[] | undefined>;
  /** Keeps what could not be kept before, if it can. Never rejects. */
  close(): Promise<void>;
}

/** A token that was given to us as it is, and that we cannot renew. */
export function fixedCredential(kind: CredentialKind, token: string): Credential {
  const fingerprint = fingerprintOf('token', token);
  return {
    kind,
    isThere: () => true,
    login: () => undefined,
    user: () => undefined,
    fingerprint: () => fingerprint,
    token: () => Promise.resolve(token),
    renew: () => Promise.reject(notRenewable()),
    isOver: () => false,
    scopes: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}

export function fingerprintOf(what: 'token' | 'login', value: string): string {
  return createHash('sha256').update(`${what} ${value}`).digest('hex');
}

export function notRenewable(cause?: unknown): FaultError {
  return new FaultError({ kind: 'auth', sent: 'no', final: true, cause });
}
