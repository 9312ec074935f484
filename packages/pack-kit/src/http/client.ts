import type { PackDeps, ToolContext } from '@toolkeel/contract';
import {
  FaultError,
  systemClock,
  untimed,
  upstream,
  withResilience,
  type AttemptContext,
  type Clock,
  type Effect,
  type ResiliencePolicy,
} from '@toolkeel/kernel';
import { BoundedMap } from '../cache.js';
import { classify } from '../faults.js';
import { createRedactor } from '../redact/redactor.js';
import { createConnections, type NetworkRules } from './connections.js';
import {
  read,
  write,
  type ExchangeOptions,
  type HttpRequest,
  type HttpResponse,
  type Send,
} from './exchange.js';

/** Wraps each attempt: adds credentials, records what the response says, waits for reasons of its own. */
export type Intercept<R extends HttpRequest> = (
  request: R,
  attempt: Pick<AttemptContext, 'signal' | 'deadline'> & {
    readonly untimed: <T>(wait: () => Promise<T>) => Promise<T>;
  },
  next: (request: R) => Promise<HttpResponse>,
) => Promise<HttpResponse>;

export interface HttpClientOptions<R extends HttpRequest> extends Partial<
  Pick<ExchangeOptions<R>, 'connections' | 'faultOf' | 'headers' | 'maxRedirects' | 'secrets'>
> {
  /** The name of the pack, for events and the user agent. */
  readonly name: string;
  readonly policy: ResiliencePolicy;
  readonly deps: Pick<PackDeps, 'now' | 'random' | 'observe'>;
  /** URLs that the operator configured. They may be private; all others must be public. */
  readonly trusted: Iterable<string | URL>;
  /** The largest response. Default: 8 MiB. */
  readonly maxBytes?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly network?: NetworkRules | undefined;
  readonly intercept?: Intercept<R> | undefined;
  /** Refreshes the credential after a 401; the request is then retried once. */
  readonly refreshAuth?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** The part of a tool's context that a read needs. */
export interface RequestContext extends Pick<ToolContext, 'signal' | 'deadline' | 'correlationId'> {
  readonly noteRetry?: (() => void) | undefined;
}

/** `callContextOf` creates one for a tool. */
export interface WriteContext extends RequestContext {
  /** Whether `once` retries a request that was certainly not sent. Default: it does not. */
  readonly retryUnsent?: boolean | undefined;
  /** Records the write in the journal, then runs it. */
  readonly send: Send;
}

type Request<R, Context> = (request: R, call: Context) => Promise<HttpResponse>;

/** Requests with retries, deadlines, rate limits and a circuit breaker, by their effect. */
export type HttpClient<R extends HttpRequest = HttpRequest> = ReturnType<
  typeof createHttpClient<R>
>;

type Attempting = Pick<AttemptContext, 'signal'> & {
  readonly [Key in 'deadline' | 'reportLimits']?: AttemptContext[Key] | undefined;
};

interface Sending<R> {
  readonly request: R;
  readonly call: RequestContext & Partial<WriteContext>;
}

/** The journal refused a write. */
class Refusal extends Error {}

/** Bounds the memory for origins that callers and upstreams name. */
const MAX_UNTRUSTED = 64;

/** Creates the HTTP client of a pack. Requests to one origin share its circuit, budgets and limits. */
export function createHttpClient<R extends HttpRequest = HttpRequest>(
  options: HttpClientOptions<R>,
) {
  const { name, policy, deps, intercept, refreshAuth, network } = options;
  const clock = options.clock ?? { ...systemClock, now: deps.now };
  const connectTimeoutMs = policy.attemptTimeoutMs ?? policy.callTimeoutMs ?? 60_000;
  const exchange = {
    ...options,
    connections: options.connections ?? createConnections(connectTimeoutMs, network),
    trusted: new Set(Array.from(options.trusted, (href) => new URL(href).origin)),
    secrets: options.secrets ?? createRedactor(),
    maxBytes: options.maxBytes ?? 8_388_608,
    wallNow: () => clock.wallNow(),
    headers: { 'user-agent': `toolkeel-${name}/0.1`, ...options.headers },
  };

  const perform = async (request: R, attempt: Attempting, send?: Send) => {
    const { signal, deadline = Infinity } = attempt;
    const next = (given: R): Promise<HttpResponse> =>
      send ? write(given, { ...exchange, signal }, send) : read(given, { ...exchange, signal });
    const response = await (intercept
      ? intercept(request, { signal, deadline, untimed: (wait) => untimed(attempt, wait) }, next)
      : next(request));
    attempt.reportLimits?.(response.limits);
    return response;
  };

  const createOrigin = (origin: string) => {
    const shared = upstream(new URL(origin).host, policy);
    const sender = (effect: Effect, retryUnsent = false) =>
      withResilience(
        ({ request, call }: Sending<R>, attempt) => {
          if (attempt.index > 0) call.noteRetry?.();
          const send = effect === 'read' ? undefined : recordedSend(call.send, attempt);
          return perform(request, attempt, send);
        },
        policy,
        {
          name: `${name}_${effect}`,
          effect,
          retryUnsent,
          upstream: shared,
          classify,
          clock,
          random: deps.random,
          listener: deps.observe,
          ...(refreshAuth && { refreshAuth }),
        },
      );
    return {
      upstream: shared,
      read: sender('read'),
      idempotent: sender('idempotent'),
      once: sender('once'),
      onceRetryUnsent: sender('once', true),
    };
  };
  type Origin = ReturnType<typeof createOrigin>;
  const trusted = new Map<string, Origin>();
  const others = new BoundedMap<Origin>(MAX_UNTRUSTED);
  const originOf = ({ origin: key }: URL): Origin => {
    const known = exchange.trusted.has(key) ? trusted : others;
    const origin = known.get(key) ?? createOrigin(key);
    known.set(key, origin);
    return origin;
  };

  const sendWith = (effect: Effect) => async (request: R, call: Sending<R>['call']) => {
    const { signal, deadline, correlationId } = call;
    const route = request.route === undefined ? {} : { route: request.route };
    const callOptions = { signal, deadline, correlationId, ...route };
    const sender = effect === 'once' && call.retryUnsent ? 'onceRetryUnsent' : effect;
    const outcome = await originOf(request.url)[sender].outcome({ request, call }, callOptions);
    if (outcome.ok) return outcome.value;
    const { fault } = outcome;
    if (!(fault.cause instanceof Refusal)) throw new FaultError(fault);
    const { cause } = fault.cause;
    if (fault.sent === 'no') throw cause;
    // An earlier attempt may have executed, even though the journal refused the next one.
    throw new FaultError({ kind: 'network', sent: 'maybe', cause });
  };

  return {
    read: sendWith('read') as Request<R, RequestContext>,
    /** A mutation that is retried like a read, on a new connection each time. */
    idempotent: sendWith('idempotent') as Request<R, WriteContext>,
    /** A mutation that is never sent again. If nothing of it was sent, the tool's `retryUnsent` allows a retry. */
    once: sendWith('once') as Request<R, WriteContext>,
    /** One attempt of a read without retries, for a caller that has its own. */
    attempt: perform as Request<R, Attempting>,
    /** The shared state of an origin. */
    upstreamOf: (url: URL) => originOf(url).upstream,
    /** The upstreams in memory, for monitoring. */
    upstreams: () => [...trusted.values(), ...others.values()].map((origin) => origin.upstream),
    close: () => exchange.connections.close(),
  };
}

/** Tells the kernel what was sent, and wraps the reason if the journal refuses the write. */
function recordedSend(send: Send | undefined, attempt: AttemptContext): Send {
  if (!send) throw new TypeError('A write needs the `send` of its call: see callContextOf.');
  attempt.sent = 'no';
  return async (run, options) => {
    try {
      return await send((token) => {
        attempt.sent = 'maybe';
        return run(token).catch(throwAfterSend);
      }, options);
    } catch (cause) {
      if (attempt.sent !== 'no') throw cause;
      throw new FaultError({
        kind: 'rejected',
        sent: 'no',
        cause: new Refusal(undefined, { cause }),
      });
    }
  };
}

/** Once the first byte may be sent, a connection error does not prove that nothing was executed. */
function throwAfterSend(cause: unknown): never {
  if (cause instanceof FaultError) throw cause;
  const fault = classify(cause);
  throw new FaultError(fault.sent === 'no' ? { ...fault, sent: 'maybe' } : fault);
}
