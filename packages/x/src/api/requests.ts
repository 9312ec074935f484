import { type Fault, FaultError } from '@toolkeel/kernel';
import type { CallContext, HttpClient, WriteContext } from '@toolkeel/pack-kit';
import {
  xResponseOf,
  type ApiRequest,
  type Session,
  type XRequest,
  type XResponse,
} from './session.js';

type SendRequest = (request: ApiRequest, call: WriteContext) => Promise<XResponse>;

/** Requests to X, by their effect. */
export type Requests = Readonly<Record<'read' | 'idempotent' | 'once', SendRequest>>;

export function createRequests(session: Session, client: HttpClient<XRequest>): Requests {
  const send =
    (effect: keyof Requests): SendRequest =>
    async (request, call) =>
      xResponseOf(await client[effect](session.httpRequest(request), call));
  return { read: send('read'), idempotent: send('idempotent'), once: send('once') };
}

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
