import { isSafeMethod, type Id, type RequestFrame } from './frame.js';

interface Pending {
  readonly frame: RequestFrame;
  /** Whether the upstream has it; otherwise it is sent when a link is ready. */
  isSent: boolean;
  /** Whether a server has refused it because its session had ended. */
  isRefused?: boolean;
}

/** Requests of the client, other than calls, that the upstream has not answered. */
export class PendingRequests {
  readonly #byId = new Map<Id, Pending>();

  get size(): number {
    return this.#byId.size;
  }

  has(id: Id): boolean {
    return this.#byId.has(id);
  }

  add(frame: RequestFrame, isSent: boolean): void {
    this.#byId.set(frame.message.id, { frame, isSent });
  }

  /** Removes a request. Undefined if there is none with this id. */
  take(id: Id): RequestFrame | undefined {
    const frame = this.#byId.get(id)?.frame;
    this.#byId.delete(id);
    return frame;
  }

  /**
   * The upstream has not processed this request: it is sent again on the next link; after the end of a
   * session only once. Returns false if it is not.
   */
  keep(id: Id, hasSessionEnded: boolean): boolean {
    const pending = this.#byId.get(id);
    if (!pending || (hasSessionEnded && pending.isRefused)) return false;
    pending.isSent = false;
    pending.isRefused ||= hasSessionEnded;
    return true;
  }

  /** All are lost. Those that change nothing are sent again; returns the others. */
  lose(): readonly Id[] {
    const unsafe: Id[] = [];
    for (const [id, pending] of this.#byId) {
      if (!pending.isSent || isSafeMethod(pending.frame.message.method)) pending.isSent = false;
      else unsafe.push(id);
    }
    for (const id of unsafe) this.#byId.delete(id);
    return unsafe;
  }

  /** Removes all. */
  clear(): readonly Id[] {
    const ids = [...this.#byId.keys()];
    this.#byId.clear();
    return ids;
  }

  /** Those that the upstream does not have; they count as sent from now on. */
  unsent(): readonly RequestFrame[] {
    const all = [...this.#byId.values()].filter(({ isSent }) => !isSent);
    for (const pending of all) pending.isSent = true;
    return all.map(({ frame }) => frame);
  }
}
