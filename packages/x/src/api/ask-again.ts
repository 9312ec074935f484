import { FaultError, type Fault } from '@toolkeel/kernel';
import type { Scope } from '../scope.js';

/** An answer to this very request, and not to one for a token on the way to it. */
function isUnread({ kind, sent }: Fault): boolean {
  return kind === 'bad_response' && sent !== 'no';
}

/**
 * X did what it was asked for, and what it says of it cannot be read. What may be repeated is asked for
 * once more, because the answer is the same. Whatever goes wrong then, the first may have been carried out.
 */
export async function askAgain<T>(
  { noteRetry }: Pick<Scope, 'noteRetry'>,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof FaultError) || !isUnread(cause.fault)) throw cause;
  }
  noteRetry();
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof FaultError)) throw cause;
    throw new FaultError({ ...cause.fault, sent: 'maybe' });
  }
}
