import {
  type AttemptContext,
  type Clock,
  type Effect,
  type Fault,
  FaultError,
  type KernelEvent,
  type ResiliencePolicy,
  type Upstream,
  withResilience,
} from '@toolkeel/kernel';
import type { CallContext } from '../call-context.js';
import { classify } from '../faults.js';
import type { HttpResponse } from '../http/message.js';
import { routes } from './routes.js';
import type { ApiRequest, Session } from './session.js';

interface RequestOptions {
  readonly session: Session;
  readonly policy: ResiliencePolicy;
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: KernelEvent) => void;
}

type SendRequest = (request: ApiRequest, call: CallContext) => Promise<HttpResponse>;

/** Requests with retries and deadlines, by their effect. */
export interface Requests {
  readonly read: SendRequest;
  /** Retried like a read. */
  readonly idempotent: SendRequest;
  /** Retried only if nothing was sent. */
  readonly once: SendRequest;
}

export function createRequests(options: RequestOptions): Requests {
  return {
    read: withRetries('read', options),
    idempotent: withRetries('idempotent', options),
    once: withRetries('once', options),
  };
}

interface Sending {
  readonly request: ApiRequest;
  readonly call: CallContext;
  /** Why the write of the current attempt did not start: a refusal of the journal or the account check. */
  refusal?: { readonly cause: unknown };
}

function withRetries(effect: Effect, options: RequestOptions): SendRequest {
  const { session, policy, upstream, clock, random, observe } = options;
  const send = withResilience(
    (sending: Sending, attempt) => perform(session, effect, sending, attempt),
    policy,
    {
      name: `x_${effect}`,
      effect,
      retryUnsent: effect === 'once',
      upstream,
      classify,
      clock,
      random,
      listener: observe,
      // All requests use the same login.
      refreshAuth: (signal) => session.renew(routes.createPost, signal),
    },
  );
  return async (request, call) => {
    const sending: Sending = { request, call };
    const { signal, deadline, correlationId } = call;
    const route = session.limitKey(request.route);
    const outcome = await send.outcome(sending, { signal, deadline, correlationId, route });
    if (outcome.ok) return outcome.value;
    const { refusal } = sending;
    if (!refusal) throw new FaultError(session.explain(request.route, outcome.fault));
    if (outcome.fault.sent === 'no') throw refusal.cause;
    // An earlier attempt may have executed, even though the journal refused the next one.
    throw new FaultError({ kind: 'network', sent: 'maybe', cause: refusal.cause });
  };
}

async function perform(
  session: Session,
  effect: Effect,
  sending: Sending,
  attempt: AttemptContext,
): Promise<HttpResponse> {
  const { request, call } = sending;
  if (attempt.index > 0) call.noteRetry();
  const { signal } = attempt;
  const reportLimits = (limits: HttpResponse['limits']): void => attempt.reportLimits(limits);
  if (effect === 'read') return session.read(request, { signal, reportLimits });
  attempt.sent = 'no';
  return session.write(request, { signal, reportLimits }, async (write) => {
    try {
      return await call.send(
        (token) => {
          attempt.sent = 'maybe';
          return write(token).catch(afterSend);
        },
        { signal },
      );
    } catch (cause) {
      if (attempt.sent !== 'no') throw cause;
      // An abandoned attempt does not determine the result of the call.
      if (!signal.aborted) sending.refusal = { cause };
      throw new FaultError({ kind: 'rejected', sent: 'no', cause });
    }
  });
}

/** Once the first byte may be sent, a connection error does not prove that nothing was executed. */
function afterSend(cause: unknown): never {
  if (cause instanceof FaultError) throw cause;
  const fault = classify(cause);
  throw new FaultError(fault.sent === 'no' ? { ...fault, sent: 'maybe' } : fault);
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
