import { BoundedMap } from '@toolkeel/pack-kit/base';
import { isObject, objectIn, type Id, type Message, type RequestFrame } from './frame.js';

/** What can be injected into an attempt. */
export const CHAOS_FAULTS = [
  'error',
  'lost',
  'refused',
  'delay',
  'rate_limited',
  'crash',
  'hang',
] as const;

export type ChaosFault = (typeof CHAOS_FAULTS)[number];

const NAMES: Readonly<Record<ChaosFault, string>> = Object.freeze({
  error: 'error of the upstream',
  lost: 'lost answer',
  refused: 'connection refused',
  delay: 'delay',
  rate_limited: 'rate limit',
  crash: 'crash of the server',
  hang: 'hang',
});

interface Call {
  readonly startedAt: number;
  /** Its number among the calls of this rehearsal. */
  readonly number: number;
  /** The fault of the first attempt: what a client without the guard would have met. */
  first: ChaosFault | undefined;
  /** The fault of the latest attempt. */
  last: ChaosFault | undefined;
  faults: number;
}

interface RehearsedSession {
  readonly attempted: (frame: RequestFrame, fault: ChaosFault | undefined) => void;
  /** The server crashed with these requests in flight. */
  readonly crashed: (inFlight: readonly Id[]) => void;
  /** The client received a response. */
  readonly answered: (message: Message & { readonly id: Id }) => void;
}

const MAX_SAMPLES = 10_000;
const MAX_OPEN = 10_000;
/** Codes of calls that the guard refuses without an attempt. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  'circuit_open',
  'overloaded',
  'upstream_unavailable',
]);

/** Counts, for the same calls, how they ended and how they would have ended without the guard. */
export class ChaosReport {
  #started = 0;
  #calls = 0;
  readonly #without = new Map<ChaosFault, number>();
  #failed = 0;
  #refused = 0;
  #delayed = 0;
  #crashes = 0;
  /** The call that the first crash hit. */
  #firstCrash: number | undefined;
  readonly #clean: number[] = [];
  readonly #saved: number[] = [];

  /** Calls that were answered. */
  get calls(): number {
    return this.#calls;
  }

  session(): RehearsedSession {
    /** A retry has another id, but the arguments of its call. */
    const byArguments = new WeakMap<object, Call>();
    const open = new BoundedMap<Call>(MAX_OPEN);
    const attempted: RehearsedSession['attempted'] = ({ message: { id, params } }, fault) => {
      const given = params?.['arguments'];
      const key = isObject(given) ? given : (params ?? {});
      const known = byArguments.get(key);
      const call = known ?? {
        startedAt: performance.now(),
        number: ++this.#started,
        first: fault,
        last: fault,
        faults: 0,
      };
      call.last = fault;
      if (fault) call.faults++;
      if (fault === 'crash') this.#crashed(call);
      byArguments.set(key, call);
      open.set(keyOf(id), call);
    };
    return {
      attempted,
      crashed: (ids) => {
        for (const id of ids) {
          const call = open.get(keyOf(id));
          if (!call || call.last) continue;
          // Lost together with the call that the crash was meant for.
          call.first ??= call.faults === 0 ? 'crash' : undefined;
          call.last = 'crash';
          call.faults++;
        }
      },
      answered: (message) => {
        const call = open.get(keyOf(message.id));
        if (call) open.delete(keyOf(message.id));
        if (call) this.#ended(call, isFailure(message));
        else if (isRefusal(message)) this.#refusedOne();
      },
    };
  }

  #crashed({ number }: Call): void {
    this.#crashes++;
    this.#firstCrash = Math.min(this.#firstCrash ?? Infinity, number);
  }

  #refusedOne(): void {
    this.#calls++;
    this.#refused++;
  }

  #ended({ startedAt, first, last, faults }: Call, hasFailed: boolean): void {
    this.#calls++;
    if (first === 'delay') this.#delayed++;
    else if (first) this.#without.set(first, (this.#without.get(first) ?? 0) + 1);
    // Errors of the server itself are not the subject of a rehearsal.
    if (hasFailed && last && last !== 'delay') this.#failed++;
    if (hasFailed) return;
    const samples = faults === 0 ? this.#clean : this.#saved;
    if (samples.length < MAX_SAMPLES) samples.push(performance.now() - startedAt);
  }

  summary() {
    const failedWithout = [...this.#without.values()].reduce((sum, count) => sum + count, 0);
    const failedWith = this.#failed + this.#refused;
    const normal = quantile(this.#clean, 0.5) ?? 0;
    const added = (share: number): number | undefined => {
      const ms = quantile(this.#saved, share);
      return ms === undefined ? undefined : Math.max(0, Math.round(ms - normal));
    };
    const [median, longest] = [added(0.5), added(1)];
    const list = [...this.#without].toSorted(([, one], [, other]) => other - one);
    const byFault = list.map(([fault, count]) => `${NAMES[fault]} ${count}`).join(', ');
    const sentences = [
      `${this.#calls} calls.`,
      `Without the guard ${failedWithout} would have failed${byFault === '' ? '' : ` (${byFault})`}; with the guard ${failedWith} failed${this.#refused > 0 ? `, ${this.#refused} of them refused without an attempt` : ''}.`,
      ...(median === undefined
        ? []
        : [
            `Calls with an injected fault took ${median} ms longer (median; at most ${longest} ms).`,
          ]),
      ...(this.#delayed > 0 ? [`${this.#delayed} were only delayed.`] : []),
      ...(this.#firstCrash === undefined
        ? []
        : [
            `The server crashed ${this.#crashes} times, first in call ${this.#firstCrash}: a client that does not start it again would have lost every call from there.`,
          ]),
    ];
    return {
      message: sentences.join(' '),
      calls: this.#calls,
      failed_without: failedWithout,
      failed_with: failedWith,
      faults: Object.fromEntries(list),
      delayed: this.#delayed,
      crashes: this.#crashes,
      ...(median !== undefined && { added_ms: { median, longest } }),
    };
  }
}

/** 1 and "1" are two ids. */
function keyOf(id: Id): string {
  return JSON.stringify(id);
}

function isFailure({ result, error }: Message): boolean {
  return error !== undefined || result?.['isError'] === true;
}

function isRefusal({ result }: Message): boolean {
  return REFUSALS.has(objectIn(objectIn(result, 'structuredContent'), 'error')['code']);
}

function quantile(samples: readonly number[], share: number): number | undefined {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
