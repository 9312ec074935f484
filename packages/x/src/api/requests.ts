import { type Fault, FaultError } from '@toolkeel/kernel';
import type { CallContext } from '@toolkeel/pack-kit';

/** An unreadable response to the request itself, not to a token renewal before it. */
function isUnreadable({ kind, sent }: Fault): boolean {
  return kind === 'bad_response' && sent !== 'no';
}

/**
 * Repeats an idempotent request once if X's success response is unreadable. If the repeat fails, the first
 * request may still have been executed.
 */
export async function retryUnreadable<T>(
  { noteRetry }: Pick<CallContext, 'noteRetry'>,
  send: () => Promise<T>,
): Promise<T> {
  try {
    return await send();
  } catch (cause) {
    if (!(cause instanceof FaultError) || !isUnreadable(cause.fault)) throw cause;
  }
  noteRetry();
  try {
    return await send();
  } catch (cause) {
    if (!(cause instanceof FaultError)) throw cause;
    throw new FaultError({ ...cause.fault, sent: 'maybe' });
  }
}
