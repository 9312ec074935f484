import { randomUUID } from 'node:crypto';
import { frameOf, type Id, type Message, type ResponseFrame } from './frame.js';
import type { Link } from './link.js';

/**
 * Ids for requests of a guard. Random, because the client may be another guard, and its ids pass through.
 * `isTaken`: whether a request with this id is in flight.
 */
export function ownIds(isTaken: (id: Id) => boolean = () => false): () => Id {
  const prefix = `toolkeel:${randomUUID()}`;
  let sequence = 0;
  return () => {
    for (;;) {
      const id = `${prefix}:${++sequence}`;
      if (!isTaken(id)) return id;
    }
  };
}

/** Requests that the guard makes itself, beside those of the client. */
export class OwnRequests {
  readonly #waiting = new Map<Id, (frame: ResponseFrame | undefined) => void>();

  has(id: Id): boolean {
    return this.#waiting.has(id);
  }

  /** Undefined: no answer in time. */
  ask(
    link: Link,
    message: Message & { readonly id: Id },
    timeoutMs: number,
  ): Promise<ResponseFrame | undefined> {
    const { id } = message;
    return new Promise((resolve) => {
      const settle = (frame: ResponseFrame | undefined): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(frame);
      };
      const timer = setTimeout(settle, timeoutMs, undefined);
      this.#waiting.set(id, settle);
      try {
        link.send(frameOf(message));
      } catch {
        settle(undefined);
      }
    });
  }

  /** False if this is no answer to one of these requests. */
  settle(id: Id, frame?: ResponseFrame): boolean {
    const waiting = this.#waiting.get(id);
    waiting?.(frame);
    return waiting !== undefined;
  }

  lose(): void {
    for (const settle of this.#waiting.values()) settle(undefined);
  }
}
