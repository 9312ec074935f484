import type { GiveUpReason } from './decide/should-retry.js';
import type { Fault, TimeoutClock } from './fault.js';

interface Common {
  /** Identical in all events of a call. */
  readonly correlationId: string;
  /** Monotonic milliseconds on the pipeline's clock. */
  readonly at: number;
  /** Name of the pipeline: a tool, a route. */
  readonly name?: string;
  /** Name of the upstream. */
  readonly upstream?: string;
}

export type KernelEvent = Common &
  (
    | {
        readonly type: 'retry_attempt';
        /** Index of the next attempt: 1 is the first retry. */
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
        /** Absent if the attempt succeeded. */
        readonly fault?: Fault;
      }
    | {
        readonly type: 'call_end';
        readonly attempts: number;
        /** The call ended during a backoff: the retry of the last `retry_attempt` was never made. */
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

type BodyOf<T> = T extends KernelEvent ? Omit<T, 'correlationId' | 'at' | 'name'> : never;
/** An event as a layer emits it; the observer adds the correlation id, time and name. */
export type EventBody = BodyOf<KernelEvent>;

/** The return value is ignored, also a rejected promise. */
export type Listener = (event: KernelEvent) => unknown;
