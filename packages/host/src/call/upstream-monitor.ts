import type { Fault, KernelEvent } from '@toolkeel/kernel';
import { recordedFault, type RecordedFault } from './timeline.js';

/** What was observed of one upstream. Times are Unix milliseconds. */
export interface UpstreamObservation {
  /** Of the last five minutes. */
  readonly attempts: number;
  readonly failures: number;
  /** Consecutive failures until now. */
  readonly failing: number;
  readonly failingSince?: number;
  readonly lastSuccessAt?: number;
  readonly lastFailure?: RecordedFault & { readonly at: number };
  /** Changes of the circuit, oldest first. */
  readonly changes: readonly CircuitChange[];
}

interface CircuitChange {
  readonly at: number;
  readonly state: 'closed' | 'half_open' | 'open';
}

const BUCKET_MS = 10_000;
const BUCKETS = 30;
const MAX_CHANGES = 50;
/** Upstreams come from the configuration; a pack that follows links may add some. */
const MAX_UPSTREAMS = 100;

const CIRCUITS: Readonly<Record<string, CircuitChange['state']>> = {
  circuit_open: 'open',
  circuit_half_open: 'half_open',
  circuit_close: 'closed',
};

/** Faults that say nothing about the health of the upstream. */
const NEUTRAL: ReadonlySet<Fault['kind']> = new Set([
  'rejected',
  'rate_limited',
  'cancelled',
  'circuit_open',
  'overloaded',
]);

interface Observed {
  /** By the start of their ten seconds, the newest last. */
  readonly counts: { readonly start: number; attempts: number; failures: number }[];
  readonly changes: CircuitChange[];
  failing: number;
  failingSince: number | undefined;
  lastSuccessAt: number | undefined;
  lastFailure: UpstreamObservation['lastFailure'];
}

/** Derives the health of upstreams from the events of calls, without requests of its own. */
export class UpstreamMonitor {
  readonly #now: () => number;
  readonly #upstreams = new Map<string, Observed>();

  /** `now`: Unix milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note(event: KernelEvent): void {
    const { type, upstream } = event;
    if (upstream === undefined || type === 'call_end') return;
    if (type === 'attempt_end') return this.#count(this.#of(upstream), event.fault);
    const state = CIRCUITS[type];
    if (!state) return;
    const { changes } = this.#of(upstream);
    changes.push({ at: this.#now(), state });
    if (changes.length > MAX_CHANGES) changes.shift();
  }

  /** Undefined: nothing was observed of it. */
  get(upstream: string): UpstreamObservation | undefined {
    const observed = this.#upstreams.get(upstream);
    if (!observed) return undefined;
    const since = this.#now() - BUCKETS * BUCKET_MS;
    let [attempts, failures] = [0, 0];
    for (const count of observed.counts) {
      if (count.start < since) continue;
      attempts += count.attempts;
      failures += count.failures;
    }
    const { failing, failingSince, lastSuccessAt, lastFailure, changes } = observed;
    return {
      attempts,
      failures,
      failing,
      ...(failingSince !== undefined && { failingSince }),
      ...(lastSuccessAt !== undefined && { lastSuccessAt }),
      ...(lastFailure && { lastFailure }),
      changes: [...changes],
    };
  }

  #count(observed: Observed, fault: Fault | undefined): void {
    if (fault && NEUTRAL.has(fault.kind)) return;
    const now = this.#now();
    const start = now - (now % BUCKET_MS);
    let count = observed.counts.at(-1);
    if (count?.start !== start) {
      count = { start, attempts: 0, failures: 0 };
      observed.counts.push(count);
      if (observed.counts.length > BUCKETS + 1) observed.counts.shift();
    }
    count.attempts++;
    if (fault) {
      count.failures++;
      observed.failing++;
      observed.failingSince ??= now;
      observed.lastFailure = { ...recordedFault(fault), at: now };
    } else {
      observed.failing = 0;
      observed.failingSince = undefined;
      observed.lastSuccessAt = now;
    }
  }

  #of(upstream: string): Observed {
    let observed = this.#upstreams.get(upstream);
    if (!observed) {
      if (this.#upstreams.size >= MAX_UPSTREAMS) this.#upstreams.clear();
      observed = {
        counts: [],
        changes: [],
        failing: 0,
        failingSince: undefined,
        lastSuccessAt: undefined,
        lastFailure: undefined,
      };
      this.#upstreams.set(upstream, observed);
    }
    return observed;
  }
}
