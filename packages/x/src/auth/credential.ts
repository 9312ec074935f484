import { createHash } from 'node:crypto';
import { FaultError } from '@toolkeel/kernel';

export type CredentialKind = 'app' | 'user';

export interface Credential {
  readonly kind: CredentialKind;
  /** False for a configured login file that does not exist yet. */
  readonly exists: () => boolean;
  /** The id of a stored login; another login can be another account. Undefined for a token. */
  readonly login: () => string | undefined;
  /** The user id, if it is known without a request. */
  readonly user: () => string | undefined;
  /** A hash that identifies the credential. A renewal does not change it. */
  readonly fingerprint: () => string;
  /** The token, renewed first if it has expired. Throws a `FaultError` if the renewal fails. */
  token(signal: AbortSignal): Promise<string>;
  /** Replaces a token that X rejected. */
  renew(rejected: string, signal: AbortSignal): Promise<void>;
  /** Whether it has expired and cannot be renewed, so that a new login is required. */
  readonly isExpired: () => boolean;
  /** The granted OAuth scopes; undefined if unknown. */
  scopes(): Promise<readonly string[] | undefined>;
  /** Saves an unsaved renewal if possible. Never rejects. */
  close(): Promise<void>;
}

/** A configured token, which cannot be renewed. */
export function fixedCredential(kind: CredentialKind, token: string): Credential {
  const fingerprint = fingerprintOf('token', token);
  return {
    kind,
    exists: () => true,
    login: () => undefined,
    user: () => undefined,
    fingerprint: () => fingerprint,
    token: () => Promise.resolve(token),
    renew: () => Promise.reject(notRenewable()),
    isExpired: () => false,
    scopes: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}

export function fingerprintOf(kind: 'token' | 'login', value: string): string {
  return createHash('sha256').update(`${kind} ${value}`).digest('hex');
}

export function notRenewable(cause?: unknown): FaultError {
  return new FaultError({ kind: 'auth', sent: 'no', final: true, cause });
}
