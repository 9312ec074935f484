import {
  parseServerHints,
  upstream,
  withResilience,
  type AttemptContext,
  type Clock,
  type KernelEvent,
  type Outcome,
  type ResiliencePolicy,
  type ResilientFunction,
  type Upstream,
} from '@toolkeel/kernel';
import type { Agent, request as undiciRequest } from 'undici';
import { BoundedMap } from '../cache.js';
import type { CallContext } from '../call-context.js';
import { classify } from '../faults.js';
import { exchange } from './exchange.js';
import { checkedLookup, lookupWith, type IsAllowed, type Resolve } from './ssrf.js';
import type { HttpRequest, HttpResponse } from './types.js';

interface GatewayOptions {
  readonly policy: ResiliencePolicy;
  readonly pool: AgentPool;
  readonly isAllowed: IsAllowed;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: KernelEvent) => void;
  /** Origins whose upstream state is never evicted. */
  readonly configured: ReadonlySet<string>;
}

interface SendInput {
  readonly request: HttpRequest;
  readonly context: CallContext;
}

interface Origin {
  readonly upstream: Upstream;
  readonly send: ResilientFunction<SendInput, HttpResponse>;
}

/** Bounds the memory for origins that callers and catalogues name. */
const MAX_UNCONFIGURED = 64;

/** Sends every request through the kernel. Requests to one origin share its circuit and budgets. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #configured = new Map<string, Origin>();
  readonly #unconfigured = new BoundedMap<Origin>(MAX_UNCONFIGURED);

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Throws a `FaultError`. */
  send(request: HttpRequest, context: CallContext): Promise<HttpResponse> {
    return this.#origin(request).send({ request, context }, callOptions(request, context));
  }

  /** Like `send`, but returns the fault as a value. */
  outcome(request: HttpRequest, context: CallContext): Promise<Outcome<HttpResponse>> {
    return this.#origin(request).send.outcome({ request, context }, callOptions(request, context));
  }

  /** The upstreams in memory, for monitoring. */
  get upstreams(): readonly Upstream[] {
    return [...this.#configured.values(), ...this.#unconfigured.values()].map(
      (origin) => origin.upstream,
    );
  }

  #origin({ url: { origin: key } }: HttpRequest): Origin {
    const origins = this.#options.configured.has(key) ? this.#configured : this.#unconfigured;
    const origin = origins.get(key) ?? this.#create(key);
    origins.set(key, origin);
    return origin;
  }

  #create(key: string): Origin {
    const { policy, clock, random, observe } = this.#options;
    const shared = upstream(new URL(key).host, policy);
    const send = withResilience(
      (input: SendInput, attempt) => this.#attempt(input, attempt),
      policy,
      {
        name: 'stac',
        effect: 'read',
        upstream: shared,
        classify,
        clock,
        random,
        listener: observe,
      },
    );
    return { upstream: shared, send };
  }

  async #attempt({ request, context }: SendInput, attempt: AttemptContext): Promise<HttpResponse> {
    if (attempt.index > 0) context.noteRetry();
    const { isAllowed, maxBytes, pool, clock } = this.#options;
    const { signal } = attempt;
    const agents = await pool.get();
    const response = await exchange(request, { agents, isAllowed, maxBytes, signal });
    const { status, headers } = response;
    const { limits } = parseServerHints({ status, headers }, clock.wallNow());
    if (limits.length > 0) attempt.reportLimits(limits);
    return response;
  }
}

function callOptions({ route }: HttpRequest, context: CallContext) {
  const { deadline, signal, correlationId } = context;
  return { deadline, signal, correlationId, route };
}

export interface Agents {
  readonly request: typeof undiciRequest;
  /** For origins that the operator configured. */
  readonly trusted: Agent;
  /** For all other origins: connects to public addresses only. */
  readonly open: Agent;
}

interface AgentOptions {
  readonly resolve: Resolve;
  readonly isAllowed: IsAllowed;
  readonly connectTimeoutMs: number;
}

/** The connection pools. Created on first use, because undici takes a while to load. */
export class AgentPool {
  readonly #options: AgentOptions;
  #agents: Promise<Agents> | undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  get(): Promise<Agents> {
    return (this.#agents ??= createAgents(this.#options));
  }

  /** Also aborts requests in flight: the host has drained them before it closes the pack. */
  async close(): Promise<void> {
    const agents = await this.#agents?.catch(() => undefined);
    await Promise.all([agents?.trusted.destroy(), agents?.open.destroy()]);
  }
}

async function createAgents(options: AgentOptions): Promise<Agents> {
  const { Agent: AgentClass, request } = await import('undici');
  const { resolve, isAllowed, connectTimeoutMs: timeout } = options;
  // The kernel bounds every attempt; undici's own timeouts would cut longer ones.
  const common = { connections: 32, headersTimeout: 0, bodyTimeout: 0 };
  return {
    request,
    trusted: new AgentClass({ ...common, connect: { timeout, lookup: lookupWith(resolve) } }),
    open: new AgentClass({
      ...common,
      connect: { timeout, lookup: checkedLookup(resolve, isAllowed) },
    }),
  };
}
