import type { HostLog } from '@toolkeel/host';
import type { GuardedCalls } from './calls.js';
import type { Frame } from './frame.js';
import type { Connect } from './link.js';
import type { SessionView } from './view.js';

/** The client's end of a session. */
export interface Client {
  /** Writes a frame. `written` is called with false if it did not reach the client. */
  readonly send: (frame: Frame, written?: (isDelivered: boolean) => void) => void;
  /** The upstream does not read: the client's frames have to wait. */
  readonly pause: () => void;
  readonly resume: () => void;
  /**
   * How much later than a new request the end of an earlier connection may be noticed. Absent if all
   * messages of the client arrive in order.
   */
  readonly lagMs?: number;
}

export interface SessionOptions {
  readonly name: string;
  readonly connect: Connect;
  readonly client: Client;
  readonly calls: GuardedCalls;
  readonly log: HostLog;
  readonly startTimeoutMs: number;
  /** The time limit of requests other than calls, without progress. */
  readonly requestTimeoutMs: number;
  /** Undefined: the client sees the upstream as it is. */
  readonly view?: SessionView | undefined;
  /** How often an idle upstream is checked; 0: never. */
  readonly healthCheckMs: number;
}
