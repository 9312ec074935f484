import type { GiveUpReason } from './decide/should-retry.js';
import type { Fault, TimeoutClock } from './fault.js';

interface Common {
  /** The same id in every event of a call. */
  readonly correlationId: string;
  /** Monotonic milliseconds of the pipeline's clock. */
  readonly at: number;
  /** The name given to the pipeline: a tool, a route. */
  readonly name?: string;
  /** The upstream that the requests of the pipeline go to. */
  readonly upstream?: string;
}

export type KernelEvent = Common &
  (
    | {
        readonly type: 'retry_attempt';
        /** The attempt that will be made: 1 is the first retry. */
        readonly attempt: number;
        readonly afterMs: number;
        readonly fault: Fault;
      }
    | {
        readonly type: 'retry_give_up';
        readonly attempts: number;
        readonly reason: GiveUpReason;
        readonly fault: Fault;
      }
    | {
        readonly type: 'timeout_abort';
        readonly clock: TimeoutClock;
        readonly elapsedMs: number;
      }
    | { readonly type: 'hedge_attempt'; readonly attempt: number; readonly afterMs: number }
    | { readonly type: 'queue_wait'; readonly ahead: number }
    | {
        readonly type: 'attempt_end';
        readonly attempt: number;
        readonly elapsedMs: number;
        /** Absent when the attempt succeeded. */
        readonly fault?: Fault;
      }
    | {
        readonly type: 'call_end';
        readonly attempts: number;
        /** The call ended while it waited for a retry that was announced: that one was never made. */
        readonly retryDropped?: true;
        readonly elapsedMs: number;
        readonly fault?: Fault;
      }
    | {
        readonly type: CircuitEventType;
        readonly upstream: string;
      }
  );

export type CircuitEventType = 'circuit_open' | 'circuit_half_open' | 'circuit_close';

export type KernelEventType = KernelEvent['type'];

type OfOne<T> = T extends KernelEvent ? Omit<T, 'correlationId' | 'at' | 'name'> : never;
/** An event as the place where it happens knows it; the call adds who and when. */
export type EventBody = OfOne<KernelEvent>;

/** What it gives back, even a promise that fails, changes nothing. */
export type Listener = (event: KernelEvent) => unknown;
