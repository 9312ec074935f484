import {
  withResilience,
  upstream,
  type AttemptContext,
  type Clock,
  type ResilientFunction,
  type KernelEvent,
  type Outcome,
  parseServerHints,
  type ResiliencePolicy,
  type Upstream,
} from '@toolkeel/kernel';
import { classify } from '../faults.js';
import { checkedLookup, type IsAllowed, lookupWith, type Resolve } from './ssrf.js';
import type { CallContext } from '../call-context.js';
import { exchange } from './exchange.js';
import type { HttpAnswer, HttpRequest } from './types.js';
import type { Agent, request } from 'undici';

interface GatewayOptions {
  readonly policy: ResiliencePolicy;
  readonly pool: AgentPool;
  readonly isAllowed: IsAllowed;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: KernelEvent) => void;
  /** Origins that are never forgotten, however many others come by. */
  readonly configured: ReadonlySet<string>;
}

interface Sending {
  readonly request: HttpRequest;
  readonly scope: CallContext;
}

interface Known {
  readonly upstream: Upstream;
  readonly send: ResilientFunction<Sending, HttpAnswer>;
}

/** Whoever names ever new hosts must not make us remember them all. */
const MAX_STRANGERS = 64;

/** The one way out: every request passes the kernel, and all requests to a host share its state. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #configured = new Map<string, Known>();
  readonly #strangers = new Map<string, Known>();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Throws a `FaultError`. */
  send(request: HttpRequest, scope: CallContext): Promise<HttpAnswer> {
    return this.#known(request).send({ request, scope }, callOptions(request, scope));
  }

  /** The same with the fault as a value. */
  outcome(request: HttpRequest, scope: CallContext): Promise<Outcome<HttpAnswer>> {
    return this.#known(request).send.outcome({ request, scope }, callOptions(request, scope));
  }

  #known({ url: { origin } }: HttpRequest): Known {
    const isConfigured = this.#options.configured.has(origin);
    const known = isConfigured ? this.#configured : this.#strangers;
    const found = known.get(origin) ?? this.#create(origin);
    // Newest last, so that the first one is the one to forget.
    known.delete(origin);
    known.set(origin, found);
    const [oldest] = known.keys();
    if (!isConfigured && known.size > MAX_STRANGERS && oldest) known.delete(oldest);
    return found;
  }

  #create(origin: string): Known {
    const { policy, clock, random, observe } = this.#options;
    const shared = upstream(new URL(origin).host, policy);
    const send = withResilience(
      (sending: Sending, attempt) => this.#attempt(sending, attempt),
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

  /** The hosts that are remembered, for whoever watches over circuits and budgets. */
  get upstreams(): readonly Upstream[] {
    return [...this.#configured.values(), ...this.#strangers.values()].map((one) => one.upstream);
  }

  async #attempt({ request, scope }: Sending, attempt: AttemptContext): Promise<HttpAnswer> {
    if (attempt.index > 0) scope.noteRetry();
    const { isAllowed, maxBytes, pool, clock } = this.#options;
    const { signal } = attempt;
    const agents = await pool.get();
    const answer = await exchange(request, { agents, isAllowed, maxBytes, signal });
    const { status, headers } = answer;
    const { limits } = parseServerHints({ status, headers }, clock.wallNow());
    if (limits.length > 0) attempt.reportLimits(limits);
    return answer;
  }
}

function callOptions({ route }: HttpRequest, scope: CallContext) {
  const { deadline, signal, correlationId } = scope;
  return { deadline, signal, correlationId, route };
}

export interface Agents {
  readonly request: typeof request;
  /** For origins that the operator named. */
  readonly trusted: Agent;
  /** For all others: connects to public addresses only. */
  readonly open: Agent;
}

interface AgentOptions {
  readonly resolve: Resolve;
  readonly isAllowed: IsAllowed;
  readonly connectTimeoutMs: number;
}

/** Connections of each kind, made when first asked for: undici takes a while to load. */
export class AgentPool {
  readonly #options: AgentOptions;
  #agents: Promise<Agents> | undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  get(): Promise<Agents> {
    return (this.#agents ??= load(this.#options));
  }

  /** Ends what is under way as well: whoever closes has waited for it already. */
  async close(): Promise<void> {
    const agents = await this.#agents?.catch(() => undefined);
    await Promise.all([agents?.trusted.destroy(), agents?.open.destroy()]);
  }
}

async function load(options: AgentOptions): Promise<Agents> {
  const { Agent: AgentClass, request: send } = await import('undici');
  const { resolve, isAllowed, connectTimeoutMs: timeout } = options;
  // The kernel's clocks bound every attempt; undici's own would cut one that was given longer.
  const common = { connections: 32, headersTimeout: 0, bodyTimeout: 0 };
  return {
    request: send,
    trusted: new AgentClass({ ...common, connect: { timeout, lookup: lookupWith(resolve) } }),
    open: new AgentClass({
      ...common,
      connect: { timeout, lookup: checkedLookup(resolve, isAllowed) },
    }),
  };
}
