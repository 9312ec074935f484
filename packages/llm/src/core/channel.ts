import {
  definePolicy,
  presets,
  systemClock,
  upstream,
  type Clock,
  type Listener,
  type ResiliencePolicy,
  type Upstream,
} from '@toolkeel/kernel';
import type { TextModelHealth } from '@toolkeel/contract';
import type { Timeouts } from './clocks.js';
import { Cooldown } from './cooldown.js';
import { classify, ProviderError } from './errors.js';
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

const HEALTH_TIMEOUT_MS = 10_000;
const HEALTH_TTL_MS = 30_000;
const SLOW_MS = 5_000;

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
  #lastError: { readonly error: ProviderError; readonly at: number } | undefined;
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

  note(error: ProviderError): void {
    if (error.code !== 'cancelled') this.#lastError = { error, at: this.clock.now() };
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
    const last = this.#lastError;
    if (circuit === 'half_open' || (last && now - last.at < HEALTH_TTL_MS)) {
      return { state: 'degraded', detail: last?.error.message ?? 'recovering' };
    }
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
    const controller = new AbortController();
    const health = await new Promise<ProviderHealth>((resolve) => {
      const timer = this.clock.setTimer(HEALTH_TIMEOUT_MS, () => {
        resolve({ state: 'down', detail: `no answer within ${HEALTH_TIMEOUT_MS / 1000} s` });
        controller.abort();
      });
      const done = (result: ProviderHealth): void => {
        this.clock.clearTimer(timer);
        resolve(result);
      };
      this.provider.health(controller.signal).then(done, (cause: unknown) => {
        done({ state: 'down', detail: cause instanceof Error ? cause.message : 'check failed' });
      });
    });
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
    try {
      return await this.provider.models(AbortSignal.timeout(HEALTH_TIMEOUT_MS));
    } catch (cause) {
      const facts = { phase: 'headers', attempts: 1, partialText: '' } as const;
      throw new ProviderError(classify(cause), { ...facts, provider: this.provider.name });
    }
  }

  close(): Promise<void> {
    return this.provider.close();
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
