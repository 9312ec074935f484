import type { ServerResponse } from 'node:http';

/** Responses that wait at most; more are written at once, so that the first is not delayed further. */
const MAX_QUEUED = 32;

export interface QueuedResponse {
  readonly outgoing: ServerResponse;
  readonly body: string;
  /** Called directly before the response is written. */
  readonly onWrite?: (() => void) | undefined;
}

/**
 * Writes the responses of one turn of the event loop together, after the requests that have arrived
 * meanwhile were read. A write on an otherwise idle connection wakes its receiver, which costs as much as
 * the whole call; of several writes in a row only the first does.
 */
export class WriteQueue {
  #queued: QueuedResponse[] = [];

  add(response: QueuedResponse): void {
    const length = this.#queued.push(response);
    if (length === 1) setImmediate(this.#flush);
    else if (length === MAX_QUEUED) this.#flush();
  }

  readonly #flush = (): void => {
    const queued = this.#queued;
    this.#queued = [];
    for (const { outgoing, body, onWrite } of queued) {
      onWrite?.();
      outgoing.end(body);
    }
  };
}
