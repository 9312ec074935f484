import { createHash } from 'node:crypto';
import { randomOf } from '../../random/random.js';
import type { Clock } from '../clock.js';
import type { Scope } from './scopes.js';

/** What a user has agreed to, until the app fetches its tokens for it. */
export interface Agreement {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly userId: string;
  readonly scopes: readonly Scope[];
  readonly challenge: string;
  readonly method: 'S256' | 'plain';
}

export interface Codes {
  readonly issue: (agreement: Agreement) => string;
  /** A code is good once, and for half a minute. */
  readonly redeem: (code: string) => Agreement | undefined;
}

const LIFETIME = 30_000;

export function createCodes(clock: Clock, seed: number): Codes {
  const issued = new Map<string, { readonly agreement: Agreement; readonly until: number }>();
  let made = 0;
  return {
    issue: (agreement) => {
      made += 1;
      const random = randomOf(seed, 'code', made);
      const bytes = Uint8Array.from({ length: 30 }, () => Math.floor(random() * 256));
      const code = Buffer.from(bytes).toString('base64url');
      issued.set(code, { agreement, until: clock.now() + LIFETIME });
      return code;
    },
    redeem: (code) => {
      const known = issued.get(code);
      issued.delete(code);
      return known && known.until > clock.now() ? known.agreement : undefined;
    },
  };
}

/** Does the verifier belong to the challenge? Proof that whoever asks is who began. */
export function verifies(verifier: string, { challenge, method }: Agreement): boolean {
  if (method === 'plain') return verifier === challenge;
  return createHash('sha256').update(verifier).digest('base64url') === challenge;
}
