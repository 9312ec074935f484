import type { Clock } from '@toolkeel/kernel';
import type { Operation } from '../operation.js';
import { TOO_LATE, within } from './bounded.js';
import type { Ended } from './carry-out.js';

/** An act that this process is at, and how it will have ended. */
export interface Shared {
  readonly argsHash: string;
  /** The key that it was asked for with. */
  readonly key: string | undefined;
  readonly ended: Promise<Ended | undefined>;
  /** Once it has a name. */
  readonly operation: () => Operation | undefined;
}

/** Callers of one process that mean the same act get one result. */
export interface Sharing {
  readonly has: (scopedKey: string) => boolean;
  readonly find: (scopedKey: string) => Shared | undefined;
  readonly begin: (scopedKey: string, shared: Shared) => void;
}

export function sharing(): Sharing {
  const acts = new Map<string, Shared>();
  return {
    has: (scopedKey) => acts.has(scopedKey),
    find: (scopedKey) => acts.get(scopedKey),
    begin: (scopedKey, shared) => {
      acts.set(scopedKey, shared);
      const done = (): void => {
        if (acts.get(scopedKey) === shared) acts.delete(scopedKey);
      };
      shared.ended.then(done, done);
    },
  };
}

export type Followed =
  | { readonly kind: 'ended'; readonly ended: Ended }
  /** It is not over, and this caller's time is. */
  | { readonly kind: 'late' }
  /** Its end says nothing to this caller, who has to see for itself. */
  | { readonly kind: 'alone' };

/** Waits for somebody else's call. */
export async function follow(
  clock: Clock,
  { ended, argsHash }: Shared,
  mine: { readonly argsHash: string; readonly until: number },
): Promise<Followed> {
  const result = await within(
    clock,
    mine.until,
    ended.catch(() => undefined),
  );
  if (result === TOO_LATE) return { kind: 'late' };
  if (!result || result.concerns === 'none') return { kind: 'alone' };
  const isMeant = result.concerns === 'all' || mine.argsHash === argsHash;
  return isMeant ? { kind: 'ended', ended: result } : { kind: 'alone' };
}
