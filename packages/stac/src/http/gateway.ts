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
import type { IsAllowed } from '../reach/target.js';
import type { Scope } from '../scope.js';
import type { AgentPool } from './agents.js';
import { exchange } from './exchange.js';
import type { HttpAnswer, HttpRequest } from './request.js';

export interface GatewayOptions {
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
  readonly scope: Scope;
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
  send(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
    return this.#known(request).send({ request, scope }, callOptions(request, scope));
  }

  /** The same with the fault as a value. */
  outcome(request: HttpRequest, scope: Scope): Promise<Outcome<HttpAnswer>> {
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

function callOptions({ route }: HttpRequest, scope: Scope) {
  const { deadline, signal, correlationId } = scope;
  return { deadline, signal, correlationId, route };
}
