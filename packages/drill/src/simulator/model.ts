import type { Clock } from '@toolkeel/kernel';

/** The purposes of random numbers. Different purposes never share a number. */
const purposes = { latency: 1, fault: 2, kind: 3, arrival: 4, outage: 5 } as const;

type Purpose = keyof typeof purposes;

/**
 * A number in (0, 1) that depends only on its arguments: attempt m of call n meets the same latency
 * and the same fault under every policy, so that policies are compared on common random numbers.
 */
export function draw(seed: number, purpose: Purpose, call: number, attempt = 0): number {
  const key = mix(Math.imul(seed, 0x9e3779b1) ^ mix(call + 1));
  const bits = mix(key ^ Math.imul(attempt * 8 + purposes[purpose], 0x85ebca6b));
  return ((bits >>> 0) + 0.5) / 4_294_967_296;
}

/** A gap between random events, `meanMs` apart on average. */
export function exponential(u: number, meanMs: number): number {
  return -Math.log(u) * meanMs;
}

/** A seed for an independent random stream. */
export function derive(seed: number, part: number): number {
  return mix(Math.imul(seed, 0x9e3779b1) + part) >>> 0;
}

/** Every bit of the input changes half the bits of the output (C. Wellons' lowbias32). */
function mix(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return h ^ (h >>> 15);
}

export const faultModes = {
  none: { title: 'no faults', rate: 0, share: 1, hangs: 0 },
  fast: { title: 'fast: a fault takes 0.1× an answer', rate: 0.2, share: 0.1, hangs: 0 },
  half: { title: 'half: a fault takes half an answer', rate: 0.2, share: 0.5, hangs: 0 },
  same: { title: 'same: a fault takes as long as an answer', rate: 0.2, share: 1, hangs: 0 },
  mix: { title: 'mix: one fault in five is a timeout', rate: 0.2, share: 0.1, hangs: 0.2 },
} as const satisfies Record<string, FaultMode>;

export type FaultModeName = keyof typeof faultModes;

export interface FaultMode {
  readonly title: string;
  /** The share of requests that fail, each drawn on its own. */
  readonly rate: number;
  /** The time of a fault as a share of the time of the answer it replaces. */
  readonly share: number;
  /** The share of faults that send no byte, so that only a timeout ends them. */
  readonly hangs: number;
}

/**
 * How calls arrive. `perSecond`: an open loop, at random times, independent of earlier calls.
 * `callers`: a closed loop in which each caller waits for a call before it makes the next.
 */
export type Arrivals = { readonly perSecond: number } | { readonly callers: number };

type Begin = (call: number) => Promise<unknown>;

/** Schedules `calls` calls on the clock. They have ended when the clock has no timers left. */
export function begin(
  arrivals: Arrivals,
  run: { readonly clock: Clock; readonly seed: number; readonly calls: number },
  start: Begin,
): void {
  if ('callers' in arrivals) closedLoop(arrivals.callers, run.calls, start);
  else openLoop(1000 / arrivals.perSecond, run, start);
}

/** When the calls of an open loop begin. */
export function arrivalTimes(options: {
  readonly perSecond: number;
  readonly seed: number;
  readonly calls: number;
}): Float64Array {
  let at = 0;
  return Float64Array.from({ length: options.calls }, (_, call) => {
    at += exponential(draw(options.seed, 'arrival', call), 1000 / options.perSecond);
    return at;
  });
}

function openLoop(
  meanGapMs: number,
  { clock, seed, calls }: { readonly clock: Clock; readonly seed: number; readonly calls: number },
  start: Begin,
): void {
  let call = 0;
  const next = (): void => {
    void start(call);
    call++;
    schedule();
  };
  const schedule = (): void => {
    if (call >= calls) return;
    clock.setTimer(exponential(draw(seed, 'arrival', call), meanGapMs), next);
  };
  schedule();
}

function closedLoop(callers: number, calls: number, start: Begin): void {
  let call = 0;
  const caller = async (): Promise<void> => {
    while (call < calls) await start(call++);
  };
  for (let i = 0; i < callers; i++) void caller();
}

/** A period in which the upstream is down. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

/**
 * How an upstream that is down treats requests. `turnsAway`: new requests fail fast. `instant`: they
 * fail at once. `crashes`: in-flight requests fail too. `hangs`: neither is ever answered.
 */
export type OutageKind = 'turnsAway' | 'instant' | 'crashes' | 'hangs';

/** Random intermittent outages, so that the upstream is down for a share of the time. */
export function randomOutages(options: {
  readonly seed: number;
  readonly meanMs: number;
  readonly share: number;
  readonly untilMs: number;
}): readonly Outage[] {
  const { seed, meanMs, share, untilMs } = options;
  const meanUpMs = (meanMs * (1 - share)) / share;
  const outages: Outage[] = [];
  let at = 0;
  for (let n = 0; at < untilMs; n++) {
    const from = at + exponential(draw(seed, 'outage', n, 0), meanUpMs);
    at = from + exponential(draw(seed, 'outage', n, 1), meanMs);
    outages.push({ from, to: at });
  }
  return outages;
}

/** Answers whether the upstream is down, for times in ascending order. */
export class OutageSchedule {
  readonly #outages: readonly Outage[];
  #next = 0;

  constructor(outages: readonly Outage[]) {
    this.#outages = outages;
  }

  /** The current or next outage. */
  #at(now: number): Outage | undefined {
    while (this.#next < this.#outages.length && this.#outages[this.#next]!.to <= now) this.#next++;
    return this.#outages[this.#next];
  }

  isDown(now: number): boolean {
    return this.nextFrom(now) <= now;
  }

  /** When the current or next outage begins. */
  nextFrom(now: number): number {
    return this.#at(now)?.from ?? Infinity;
  }
}
