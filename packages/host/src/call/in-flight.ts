import type { CallStats } from './events.js';
import type { RecordedFault, WaitReason } from './timeline.js';

/** A call in flight, as a process reports it. Times are Unix milliseconds. */
export interface InFlight {
  readonly correlationId: string;
  readonly tool: string;
  readonly account?: string;
  readonly at: number;
  readonly deadline?: number;
  /** Attempts that have begun, as far as events tell. */
  readonly attempts: number;
  /** Present while it waits for another attempt. */
  readonly wait?: {
    readonly reason: WaitReason;
    readonly since: number;
    readonly until?: number;
    readonly next?: number;
  };
  readonly fault?: RecordedFault;
}

interface Described {
  readonly correlationId: string;
  readonly name: string;
  readonly at: number;
  readonly startedAt: number;
  readonly deadline?: number;
  readonly account?: string | undefined;
  readonly stats: CallStats;
}

/** `now`: on the clock of `startedAt`. */
export function describeInFlight(call: Described, now: number): InFlight {
  const { correlationId, name, at, startedAt, deadline, account, stats } = call;
  const { timeline } = stats;
  const wait = timeline.waitAt(now);
  const ended = timeline.attempts;
  const { lastFault: fault } = timeline;
  return {
    correlationId,
    tool: name,
    ...(account !== undefined && { account }),
    at,
    ...(deadline !== undefined && { deadline: Math.round(at + deadline - startedAt) }),
    attempts: wait ? ended : ended + 1,
    ...(wait && {
      wait: {
        reason: wait.reason,
        since: at + wait.from,
        ...(wait.planned !== undefined && { until: at + wait.planned }),
        ...(wait.next !== undefined && { next: wait.next }),
      },
    }),
    ...(fault && { fault }),
  };
}
