import type { Fault } from '@toolkeel/kernel';
import { faultOf } from '../run/fault-to-error.js';
import { raisedToolError } from './result.js';

/** Symbol.for, because a pack and a journal may use different copies of this package. */
const KEY = Symbol.for('@toolkeel/contract/send-tokens');
const shared = globalThis as { [KEY]?: WeakSet<object> };
/** The tokens whose write is running. A copied or made-up token is not one of them. */
const live: WeakSet<object> = (shared[KEY] ??= new WeakSet());

/** Only in types: no literal is a token. */
declare const BRAND: unique symbol;

/**
 * Permission to send a write request, valid while the function that `operation.send` runs is running.
 * Code that writes to an upstream requires one, so that no write happens before it is recorded.
 */
export interface SendToken {
  /** The fencing token of the operation, incremented with each change of owner. */
  readonly fence: number;
  readonly [BRAND]: true;
}

/** For journals: runs a write with a token that is revoked when the write ends. */
export async function withSendToken<T>(
  fence: number,
  write: (token: SendToken) => Promise<T>,
): Promise<T> {
  const token = Object.freeze({ fence }) as SendToken;
  live.add(token);
  try {
    return await write(token);
  } finally {
    live.delete(token);
  }
}

/** Throws unless `operation.send` issued the token and its function is still running. */
export function assertSendToken(token: SendToken): void {
  if (live.has(token)) return;
  throw new TypeError(
    'A write was attempted outside operation.send: make the request inside the function that send runs.',
  );
}

/**
 * Runs the reads of an explicit tool before its write. A fault in here becomes `sent: 'no'`, because no
 * write was sent and the call can be repeated.
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
