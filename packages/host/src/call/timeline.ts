import type { Fault, KernelEvent } from '@toolkeel/kernel';

/** Why a call waits between attempts. */
type WaitReason = 'backoff' | 'rate_limit' | 'circuit' | 'queue';

/** The part of a fault that may be stored: its cause may contain a URL or a header. */
export interface RecordedFault {
  readonly kind: Fault['kind'];
  readonly sent: Fault['sent'];
  readonly status?: number;
  readonly clock?: string;
}

/** Times are milliseconds since the start of the call. */
export type TimelineItem =
  | {
      readonly kind: 'attempt';
      /** Counted from 1 for each request. */
      readonly attempt: number;
      readonly from: number;
      readonly to: number;
      readonly upstream?: string;
      readonly fault?: RecordedFault;
      readonly hedge?: true;
      /** The name of the pipeline. */
      readonly request?: string;
    }
  | {
      readonly kind: 'wait';
      readonly reason: WaitReason;
      readonly from: number;
      /** Absent: it still waits, or the call ended meanwhile. */
      to?: number;
      readonly planned?: number;
      readonly upstream?: string;
      readonly fault?: RecordedFault;
      /** The attempt that follows, counted from 1. */
      readonly next?: number;
    }
  | { readonly kind: 'give_up'; readonly at: number; readonly reason: string };

/** A hedged attempt that has not ended. */
export interface RunningHedge {
  readonly attempt: number;
  readonly from: number;
  readonly upstream?: string;
}

type Attempt = Extract<TimelineItem, { kind: 'attempt' }>;
type AttemptEnd = Extract<KernelEvent, { type: 'attempt_end' }>;

/** As stored. `omitted`: items that were left out. */
export interface StoredTimeline {
  readonly items: readonly TimelineItem[];
  readonly omitted?: number;
}

/** More items than any ordinary call has. */
const MAX_ITEMS = 48;
const MAX_NAME = 60;

/** What a call does at its upstreams, for the console: bounded, and without arguments or addresses. */
export class CallTimeline {
  readonly #startedAt: number;
  #items: TimelineItem[] | undefined;
  /** The only event so far, if it is a successful attempt: most calls need no more. */
  #plain: AttemptEnd | undefined;
  #omitted = 0;
  /** Hedged attempts that have not ended, by their index. */
  #hedges: Map<number, RunningHedge> | undefined;
  lastFault: RecordedFault | undefined;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  note(event: KernelEvent): void {
    const isPlain = event.type === 'attempt_end' && event.fault === undefined;
    if (!this.#items) {
      if (event.type === 'call_end') return;
      if (isPlain && !this.#plain && !this.#hedges) {
        this.#plain = event;
        return;
      }
      this.#items = [];
      if (this.#plain) this.#note(this.#plain);
    }
    this.#note(event);
  }

  #note(event: KernelEvent): void {
    // Packs may report events of their own, which need not be complete.
    if (!Number.isFinite(event.at)) return;
    const at = Math.round(event.at - this.#startedAt);
    const { upstream } = event;
    const where = upstream === undefined ? undefined : { upstream };
    switch (event.type) {
      case 'retry_attempt': {
        const { afterMs, attempt } = event;
        const planned = at + Math.round(afterMs);
        const given = event.fault as Fault | undefined;
        const reason = given ? reasonOf(given) : 'backoff';
        const cause = given && { fault: recordedFault(given) };
        const wait = { kind: 'wait', reason, from: at, planned, next: attempt + 1 } as const;
        this.#add({ ...wait, ...where, ...cause });
        break;
      }
      case 'queue_wait':
        this.#add({ kind: 'wait', reason: 'queue', from: at, ...where });
        break;
      case 'hedge_attempt':
        (this.#hedges ??= new Map()).set(event.attempt, {
          attempt: event.attempt + 1,
          from: at,
          ...where,
        });
        break;
      case 'attempt_end': {
        const isHedge = this.#hedges?.delete(event.attempt) === true;
        const item = this.#attemptOf(event, isHedge);
        this.lastFault = item.fault;
        this.#endWait(item.attempt, upstream, item.from);
        this.#add(item);
        break;
      }
      case 'retry_give_up':
        this.#add({ kind: 'give_up', at, reason: event.reason });
        break;
      case 'call_end':
        this.#endWait(undefined, upstream, at);
        for (const [attempt, hedge] of this.#hedges ?? []) {
          if (hedge.upstream === upstream) this.#hedges?.delete(attempt);
        }
        break;
      default:
    }
  }

  #attemptOf(event: AttemptEnd, isHedge = false): Attempt {
    const { at, attempt, elapsedMs, upstream, fault, name } = event;
    const to = Math.round(at - this.#startedAt);
    return {
      kind: 'attempt',
      attempt: attempt + 1,
      from: Math.max(0, to - Math.round(elapsedMs)),
      to,
      ...(upstream !== undefined && { upstream }),
      ...(fault && { fault: recordedFault(fault) }),
      ...(isHedge && { hedge: true }),
      ...(name !== undefined && { request: name.slice(0, MAX_NAME) }),
    };
  }

  /** What a report of the process says while the call is in flight: at most `limit` items, the latest. */
  inFlight(limit: number): {
    readonly items: readonly TimelineItem[];
    readonly omitted: number;
    readonly hedges: readonly RunningHedge[];
  } {
    const items = this.#items ?? (this.#plain ? [this.#attemptOf(this.#plain)] : []);
    return {
      items: items.slice(-limit),
      omitted: this.#omitted + Math.max(0, items.length - limit),
      hedges: this.#hedges ? [...this.#hedges.values()] : [],
    };
  }

  /** The number of attempts that ended. */
  get attempts(): number {
    if (!this.#items) return this.#plain ? 1 : 0;
    return this.#items.filter(({ kind }) => kind === 'attempt').length;
  }

  /** Undefined for a call that made at most one attempt, which succeeded: its row says as much. */
  serialize(): string | undefined {
    if (!this.#items || this.#items.length === 0) return undefined;
    const stored: StoredTimeline = {
      items: this.#items,
      ...(this.#omitted > 0 && { omitted: this.#omitted }),
    };
    return JSON.stringify(stored);
  }

  #add(item: TimelineItem): void {
    this.#items ??= [];
    if (this.#items.length < MAX_ITEMS) this.#items.push(item);
    else this.#omitted++;
  }

  /** `next`: the attempt that followed; undefined if the request ended. */
  #endWait(next: number | undefined, upstream: string | undefined, at: number): void {
    for (const item of this.#items ?? []) {
      if (item.kind !== 'wait' || item.to !== undefined || item.upstream !== upstream) continue;
      if (next === undefined || item.next === undefined || item.next === next) item.to = at;
    }
  }
}

export function recordedFault({ kind, sent, status, clock }: Fault): RecordedFault {
  return {
    kind,
    sent,
    ...(status !== undefined && { status }),
    ...(clock !== undefined && { clock }),
  };
}

function reasonOf({ kind }: Fault): WaitReason {
  if (kind === 'rate_limited') return 'rate_limit';
  return kind === 'circuit_open' ? 'circuit' : 'backoff';
}
