import type { Fault } from '@toolkeel/kernel';
import { faultOf } from '../run/fault-to-error.js';
import { raisedToolError } from './raise.js';

/**
 * Runs what an explicit tool reads before its write. A fault in here says `sent: 'no'`, whatever became
 * of the read: nothing that acts has left, so the call may be repeated.
 */
export async function beforeSend<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (raisedToolError(cause)) throw cause;
    const fault: Fault = { ...(faultOf(cause) ?? { kind: kindOf(cause), cause }), sent: 'no' };
    throw Object.assign(new Error('A read before the write failed.', { cause }), { fault });
  }
}

function kindOf(cause: unknown): Fault['kind'] {
  return cause instanceof Error && cause.name === 'AbortError' ? 'cancelled' : 'unexpected';
}
