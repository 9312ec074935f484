import type { Fault } from '@toolkeel/kernel';
import type { Frame, Id } from './frame.js';

/** A connection to an upstream, from its start until it is lost. */
export interface Link {
  /** Writes a frame. Throws if the link is closed: nothing was written then. */
  readonly send: (frame: Frame, isMutation?: boolean) => void;
  /** Stops and continues the delivery of frames, while the client does not read. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends the upstream or the session. Resolves when it has ended; takes less than 5 s. */
  readonly close: () => Promise<void>;
}

export interface LinkEvents {
  readonly onFrame: (frame: Frame) => void;
  /** One request failed, but the link is usable. */
  readonly onFailed: (id: Id, fault: Fault) => void;
  /**
   * The link takes no further frames, but requests in flight may still be answered or fail: another link
   * can replace it at once. `onClosed` follows after the last of them.
   */
  readonly onRetired: (reason: string) => void;
  /** The link is lost; called once, also after `close`. */
  readonly onClosed: (reason: string) => void;
  /** The upstream does not read (true), or reads again. */
  readonly onBlocked: (isBlocked: boolean) => void;
}

/** Connects to an upstream. Frames may be sent at once; failures are reported by `onClosed`. */
export type Connect = (events: LinkEvents) => Link;

/**
 * The cause of a fault: the server does not know the session of a request, so it has not processed it. A
 * server may also say so of a request that it has processed: see `Attempts`.
 */
export class SessionEnded extends Error {
  override readonly name = 'SessionEnded';
}
