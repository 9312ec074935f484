import {
  definePolicy,
  FaultError,
  presets,
  systemClock,
  upstream,
  type Clock,
  type Fault,
  type Listener,
  type ResiliencePolicy,
  type Upstream,
} from '@toolkeel/kernel';
import type { TextModelHealth } from '@toolkeel/contract';
import type { Timeouts } from './clocks.js';
import { Cooldown } from './cooldown.js';
import { classify, ProviderError, ProviderFault, type ProviderErrorCode } from './errors.js';
import { follow } from './follow.js';
import type { ModelInfo, Provider, ProviderHealth } from './provider.js';

/** Settings of every adapter. */
export interface ModelOptions {
  /** Overrides of the provider's timeouts. `null` disables one. */
  readonly timeouts?: { readonly [Name in keyof Timeouts]?: number | null };
  /** Overrides of the preset `llm`: attempts, waits, deadline, budget, breaker. */
  readonly policy?: Partial<ResiliencePolicy>;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Receives the kernel's events, for metrics and logs. */
  readonly listener?: Listener;
}

/** Of checks and lists of models, which have no clocks. */
const TIMEOUT_MS = 10_000;
const HEALTH_TTL_MS = 30_000;
const SLOW_MS = 5_000;
const silence: Fault = { kind: 'timeout', sent: 'maybe', clock: 'headers' };

/** Errors that say nothing about the provider's health: the caller's own, or this process's. */
const notItsFault: ReadonlySet<ProviderErrorCode> = new Set<ProviderErrorCode>([
  'cancelled',
  'invalid_request',
  'unsupported',
  'blocked',
  'busy',
]);

/** A provider with what all requests to it share: retry budget, breaker, cooldown, health. */
export class Channel {
  readonly provider: Provider;
  readonly timeouts: Timeouts;
  readonly policy: ResiliencePolicy;
  readonly clock: Clock;
  readonly random: () => number;
  readonly listener: Listener | undefined;
  readonly upstream: Upstream;
  readonly cooldown: Cooldown;
  readonly #calls = new Set<AbortController>();
  #closed = false;
  /** How the latest request ended that says something about the provider. */
  #last: { readonly error: ProviderError | undefined; readonly at: number } | undefined;
  #checked: { readonly health: ProviderHealth; readonly at: number } | undefined;
  #checking: Promise<ProviderHealth> | undefined;
  #failedChecks = 0;

  constructor(provider: Provider, options: ModelOptions = {}) {
    this.provider = provider;
    this.timeouts = mergeTimeouts(provider.timeouts, options.timeouts);
    this.policy = definePolicy({ ...presets.llm, ...options.policy });
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.listener = options.listener;
    this.upstream = upstream(provider.name, this.policy);
    this.cooldown = new Cooldown(provider.name);
  }

  /** Begins a call. Its controller aborts with the caller's signal, and when the channel closes. */
  enter(signal?: AbortSignal): {
    readonly controller: AbortController;
    readonly leave: () => void;
  } {
    const controller = new AbortController();
    if (this.#closed) controller.abort(this.#closedFault());
    const unfollow = follow(signal, controller);
    this.#calls.add(controller);
    const leave = (): void => {
      this.#calls.delete(controller);
      unfollow();
    };
    return { controller, leave };
  }

  /** Notes how a request ended. */
  note(error?: ProviderError): void {
    if (!error || !notItsFault.has(error.code)) this.#last = { error, at: this.clock.now() };
  }

  /** The provider's own check, cached, together with what requests have met lately. */
  async health(): Promise<TextModelHealth> {
    const { name, model } = this.provider;
    const checked = await this.#check();
    const { state, detail } = this.#withTraffic(checked);
    const { advice } = checked;
    return { state, provider: name, model, detail, ...(advice !== undefined && { advice }) };
  }

  #withTraffic(checked: ProviderHealth): Pick<ProviderHealth, 'state' | 'detail'> {
    if (checked.state === 'down') return checked;
    const { circuit } = this.upstream;
    if (circuit === 'open') return { state: 'down', detail: 'requests keep failing: circuit open' };
    const now = this.clock.now();
    const heldMs = this.cooldown.heldMs(now);
    if (heldMs > 0) {
      const detail = `asked to wait for another ${Math.ceil(heldMs / 1000)} s`;
      return { state: 'degraded', detail };
    }
    const last = this.#last && now - this.#last.at < HEALTH_TTL_MS ? this.#last : undefined;
    if (circuit === 'half_open' || last?.error) {
      return { state: 'degraded', detail: last?.error?.message ?? 'recovering' };
    }
    if (checked.state === 'unknown' && last)
      return { state: 'healthy', detail: 'answers requests' };
    return checked;
  }

  async #check(): Promise<ProviderHealth> {
    const now = this.clock.now();
    if (this.#checked && now - this.#checked.at < HEALTH_TTL_MS) return this.#checked.health;
    this.#checking ??= this.#runCheck().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #runCheck(): Promise<ProviderHealth> {
    const startedAt = this.clock.now();
    const health = await this.#bounded((signal) => this.provider.health(signal)).catch(
      (error: unknown): ProviderHealth => ({ state: 'down', detail: (error as Error).message }),
    );
    const judged = this.#judge(health, this.clock.now() - startedAt);
    // Failures are checked again at once: an operator who fixes them looks here.
    if (judged.state === 'healthy') this.#checked = { health: judged, at: this.clock.now() };
    return judged;
  }

  #judge(health: ProviderHealth, tookMs: number): ProviderHealth {
    this.#failedChecks = health.state === 'healthy' ? 0 : this.#failedChecks + 1;
    if (health.state === 'healthy' && tookMs > SLOW_MS) {
      return { state: 'degraded', detail: `answers slowly: ${Math.round(tookMs)} ms` };
    }
    // One failed check may be a hiccup; a second one is not.
    if (health.state === 'degraded' && this.#failedChecks > 1) return { ...health, state: 'down' };
    return health;
  }

  /** Rejects with a ProviderError. */
  async models(): Promise<readonly ModelInfo[]> {
    return this.#bounded((signal) => this.provider.models(signal));
  }

  /** Settles in time, whatever the provider does. Rejects with a ProviderError. */
  async #bounded<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { controller, leave } = this.enter();
    const { signal } = controller;
    const timer = this.clock.setTimer(TIMEOUT_MS, () => controller.abort(new FaultError(silence)));
    try {
      signal.throwIfAborted();
      return await new Promise<T>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        work(signal).then(resolve, reject);
      });
    } catch (cause) {
      throw new ProviderError(classify(cause), {
        provider: this.provider.name,
        phase: 'headers',
        attempts: 1,
        partialText: '',
        timeoutMs: TIMEOUT_MS,
      });
    } finally {
      this.clock.clearTimer(timer);
      leave();
    }
  }

  /** Ends in-flight requests; later ones fail. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const call of this.#calls) call.abort(this.#closedFault());
    await this.provider.close();
  }

  #closedFault(): ProviderFault {
    return new ProviderFault('cancelled', `The model ${this.provider.name} is closed`, {
      kind: 'cancelled',
      sent: 'no',
    });
  }
}

function mergeTimeouts(base: Timeouts, overrides: ModelOptions['timeouts'] = {}): Timeouts {
  const merged = Object.entries({ ...base, ...overrides });
  return Object.fromEntries(
    merged.flatMap(([name, ms]) => {
      if (ms === null || ms === undefined) return [];
      if (!(ms > 0)) throw new RangeError(`timeouts.${name} must be above 0, not ${ms}`);
      return [[name, ms]];
    }),
  );
}
