import {
  FaultError,
  withResilience,
  type AttemptContext,
  type Clock,
  type Effect,
  type KernelEvent,
  type ResiliencePolicy,
  type Upstream,
} from '@toolkeel/kernel';
import { classify } from '../faults.js';
import type { HttpAnswer } from '../http/request.js';
import type { Scope } from '../scope.js';
import { routes } from './routes.js';
import type { ApiRequest, Session } from './session.js';

export interface RequestOptions {
  readonly session: Session;
  readonly policy: ResiliencePolicy;
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: KernelEvent) => void;
}

type Send = (request: ApiRequest, scope: Scope) => Promise<HttpAnswer>;

/** Guarded requests with our login, by what they do to the world. */
export interface Requests {
  readonly read: Send;
  /** The same end state if repeated, so that it is sent again as a read is. */
  readonly idempotent: Send;
  /** Sent again only while surely nothing has left. */
  readonly once: Send;
}

export function createRequests(options: RequestOptions): Requests {
  return {
    read: guarded('read', options),
    idempotent: guarded('idempotent', options),
    once: guarded('once', options),
  };
}

interface Sending {
  readonly request: ApiRequest;
  readonly scope: Scope;
  /** Why the write of the current attempt was not begun: the journal's word, or the account's. */
  refusal?: { readonly cause: unknown };
}

function guarded(effect: Effect, options: RequestOptions): Send {
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
      // All of them are made with the same login.
      refreshAuth: (signal) => session.renew(routes.createPost, signal),
    },
  );
  return async (request, scope) => {
    const sending: Sending = { request, scope };
    const { signal, deadline, correlationId } = scope;
    const route = session.limitKey(request.route);
    const outcome = await send.outcome(sending, { signal, deadline, correlationId, route });
    if (outcome.ok) return outcome.value;
    const { refusal } = sending;
    if (!refusal) throw new FaultError(session.explain(request.route, outcome.fault));
    if (outcome.fault.sent === 'no') throw refusal.cause;
    // An earlier attempt may have acted. That the journal refused the next one does not change it.
    throw new FaultError({ kind: 'network', sent: 'maybe', cause: refusal.cause });
  };
}

async function perform(
  session: Session,
  effect: Effect,
  sending: Sending,
  attempt: AttemptContext,
): Promise<HttpAnswer> {
  const { request, scope } = sending;
  if (attempt.index > 0) scope.noteRetry();
  const { signal } = attempt;
  const reportLimits = (limits: HttpAnswer['limits']): void => attempt.reportLimits(limits);
  if (effect === 'read') return session.read(request, { signal, reportLimits });
  attempt.sent = 'no';
  return session.write(request, { signal, reportLimits }, async (write) => {
    try {
      return await scope.send(
        (token) => {
          attempt.sent = 'maybe';
          return write(token).catch(afterSend);
        },
        { signal },
      );
    } catch (cause) {
      if (attempt.sent !== 'no') throw cause;
      // An attempt that was given up has no say in how the call ends.
      if (!signal.aborted) sending.refusal = { cause };
      throw new FaultError({ kind: 'rejected', sent: 'no', cause });
    }
  });
}

/** After the first byte may have left, no error of a connection proves that nothing was executed. */
function afterSend(cause: unknown): never {
  if (cause instanceof FaultError) throw cause;
  const fault = classify(cause);
  throw new FaultError(fault.sent === 'no' ? { ...fault, sent: 'maybe' } : fault);
}
