import type { Fault } from '@toolkeel/kernel';
import { faultOf } from '../run/fault-to-error.js';
import { raisedToolError } from './result.js';

/** Symbol.for, so that a pack and a journal with their own copies of this package understand each other. */
const LIVE: unique symbol = Symbol.for('@toolkeel/contract/send-token') as never;

/**
 * The right to send one write request, valid while the function runs that `operation.send` gave it to.
 * Code that writes to an upstream takes one, so that a write cannot be made before it is recorded.
 */
export interface SendToken {
  /** The fencing token of the operation: grows whenever the operation changes owners. */
  readonly fence: number;
  readonly [LIVE]: () => boolean;
}

/** For journals: runs a write with a token that is revoked when the write has ended. */
export async function withSendToken<T>(
  fence: number,
  write: (token: SendToken) => Promise<T>,
): Promise<T> {
  let isLive = true;
  try {
    return await write(Object.freeze({ fence, [LIVE]: () => isLive }));
  } finally {
    isLive = false;
  }
}

/** Throws unless the token was handed out by `operation.send` and its function still runs. */
export function assertSendToken(token: SendToken): void {
  const isLive = (token as Partial<SendToken> | undefined)?.[LIVE];
  if (isLive?.() === true) return;
  throw new TypeError(
    'A write was attempted outside operation.send: make the request inside the function that send runs.',
  );
}

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
