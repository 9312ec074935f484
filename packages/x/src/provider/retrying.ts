import {
  FaultError,
  withResilience,
  upstream,
  type Clock,
  type Fault,
  type KernelEvent,
  type ResiliencePolicy,
  type Upstream,
} from '@toolkeel/kernel';
import { classify } from '../faults.js';
import {
  readNames,
  type ReadContext,
  type ReadMethod,
  type ReadName,
  type SocialReadProvider,
} from './provider.js';

export interface RetryingOptions {
  readonly policy: ResiliencePolicy;
  /** Shared with whatever else talks to the same host. */
  readonly upstream?: Upstream;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly observe?: (event: KernelEvent) => void;
  /** Which calls share a limit. Default: those of one method. */
  readonly routeOf?: (method: ReadName) => string;
  /** Gets a new credential after a 401; the call is then tried once more. */
  readonly renew?: (method: ReadName, signal: AbortSignal) => Promise<void>;
  /** A better reason for a fault than the fault itself. */
  readonly explain?: (method: ReadName, fault: Fault) => Fault;
}

/**
 * Any provider, with retries: only what broke on the way or failed on the other side is tried again.
 * A rate limit passes through at once, with the time to wait.
 */
export function retrying(
  provider: SocialReadProvider,
  options: RetryingOptions,
): SocialReadProvider {
  const shared = options.upstream ?? upstream('social', options.policy);
  // By name, because those of a class are not its own.
  const methods = readNames.map((name) => {
    const method = (query: unknown, context: ReadContext): Promise<unknown> =>
      (provider[name] as ReadMethod<unknown, unknown>)(query, context);
    return [name, guardedMethod(name, method, shared, options)] as const;
  });
  return Object.fromEntries(methods) as unknown as SocialReadProvider;
}

interface Asked {
  readonly query: unknown;
  readonly context: ReadContext;
}

function guardedMethod(
  name: ReadName,
  method: ReadMethod<unknown, unknown>,
  shared: Upstream,
  options: RetryingOptions,
): ReadMethod<unknown, unknown> {
  const { policy, clock, random, observe, renew, explain } = options;
  const send = withResilience(
    ({ query, context }: Asked, attempt) => {
      if (attempt.index > 0) context.noteRetry?.();
      const { signal, deadline, correlationId } = attempt;
      const reportLimits: ReadContext['reportLimits'] = (limits) => attempt.reportLimits(limits);
      return method(query, { signal, deadline, correlationId, reportLimits });
    },
    policy,
    {
      name,
      effect: 'read',
      upstream: shared,
      classify,
      ...(clock && { clock }),
      ...(random && { random }),
      ...(observe && { listener: observe }),
      ...(renew && { refreshAuth: (signal) => renew(name, signal) }),
    },
  );
  return async (query, context) => {
    const { signal, deadline, correlationId } = context;
    // Asked each time: who has logged in since counts against other limits.
    const route = options.routeOf?.(name) ?? name;
    const outcome = await send.outcome(
      { query, context },
      { signal, deadline, correlationId, route },
    );
    if (outcome.ok) return outcome.value;
    throw new FaultError(explain?.(name, outcome.fault) ?? outcome.fault);
  };
}
