import type { CallStats } from './events.js';
import type { RecordedFault, RunningHedge, TimelineItem } from './timeline.js';

/**
 * A call in flight, as a process reports it. What it does now is computed by `progressAt`, because a wait may
 * have ended since the report. Times are Unix milliseconds; those of items are relative to `at`.
 */
export interface InFlight {
  readonly correlationId: string;
  readonly tool: string;
  readonly account?: string;
  readonly at: number;
  readonly deadline?: number;
  /** Attempts that have ended. */
  readonly ended: number;
  /** The latest attempts that ended, and waits. */
  readonly items?: readonly TimelineItem[];
  /** Earlier items that are not reported. */
  readonly omitted?: number;
  readonly hedges?: readonly RunningHedge[];
  readonly fault?: RecordedFault;
}

/** A call has seldom more before it ends; a process reports up to 200 calls a second. */
const MAX_ITEMS = 12;

interface Described {
  readonly correlationId: string;
  readonly name: string;
  readonly at: number;
  readonly startedAt: number;
  readonly deadline?: number;
  readonly account?: string | undefined;
  readonly stats: CallStats;
}

export function describeInFlight(call: Described): InFlight {
  const { correlationId, name, at, startedAt, deadline, account, stats } = call;
  const { timeline } = stats;
  const { items, omitted, hedges } = timeline.inFlight(MAX_ITEMS);
  const { lastFault: fault } = timeline;
  return {
    correlationId,
    tool: name,
    ...(account !== undefined && { account }),
    at,
    ...(deadline !== undefined && { deadline: Math.round(at + deadline - startedAt) }),
    ended: timeline.attempts,
    ...(items.length > 0 && { items }),
    ...(omitted > 0 && { omitted }),
    ...(hedges.length > 0 && { hedges }),
    ...(fault && { fault }),
  };
}

type Wait = Extract<TimelineItem, { kind: 'wait' }>;

/** An attempt that has not ended. Times are milliseconds since the start of the call. */
interface RunningAttempt {
  readonly attempt: number;
  readonly from: number;
  readonly upstream?: string;
  readonly hedge?: true;
}

export interface Progress {
  /** The wait that has not reached its planned end. */
  readonly wait?: Wait;
  /** Oldest first. */
  readonly running: readonly RunningAttempt[];
}

/**
 * What a call does at `now`. No event says that an attempt begins, so it is concluded: the attempt after a
 * wait begins at the planned end of that wait, every other one when the last attempt has ended.
 */
export function progressAt({ at, items = [], hedges = [] }: InFlight, now: number): Progress {
  const elapsed = now - at;
  const open = items.filter((item): item is Wait => item.kind === 'wait' && item.to === undefined);
  const wait = open.findLast(({ planned = Infinity }) => planned > elapsed);
  const retries = open.flatMap(({ planned = Infinity, next = 1, upstream }) =>
    planned > elapsed
      ? []
      : [{ attempt: next, from: planned, ...(upstream !== undefined && { upstream }) }],
  );
  const last = items.at(-1);
  // A hedge goes on alone if the attempt that it hedges has failed.
  const isHedgeOnly = hedges.length > 0 && last?.kind === 'attempt' && last.fault !== undefined;
  const first =
    open.length > 0 || isHedgeOnly ? [] : [{ attempt: 1, from: last ? endOf(last) : 0 }];
  const hedged = hedges.map((hedge) => ({ ...hedge, hedge: true as const }));
  const running = [...first, ...retries, ...hedged].toSorted((a, b) => a.from - b.from);
  return { ...(wait && { wait }), running };
}

function endOf(item: TimelineItem): number {
  return item.kind === 'give_up' ? item.at : (item.to ?? item.from);
}
