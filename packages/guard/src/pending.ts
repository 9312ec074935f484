import { isOpenEnded, isSafeMethod, objectIn, type Id, type RequestFrame } from './frame.js';

interface Pending {
  readonly frame: RequestFrame;
  /** Whether the upstream has it; otherwise it is sent when a link is ready. */
  isSent: boolean;
  /** Whether a server has refused it because its session had ended. */
  isRefused?: boolean;
  timer: NodeJS.Timeout;
}

interface PendingOptions {
  readonly startTimeoutMs: number;
  /** The time limit of requests other than handshakes, without progress. */
  readonly requestTimeoutMs: number;
  /** A request was not answered in time, and is not pending any more. A handshake still is. */
  readonly onExpired: (frame: RequestFrame, reason: string) => void;
  /** A request that may take any time was not answered for a while. */
  readonly onSilent: () => void;
}

const HANDSHAKES: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

/** Requests of the client, other than calls, that the upstream has not answered. */
export class PendingRequests {
  readonly #options: PendingOptions;
  readonly #byId = new Map<Id, Pending>();

  constructor(options: PendingOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byId.size;
  }

  has(id: Id): boolean {
    return this.#byId.has(id);
  }

  add(frame: RequestFrame, isSent: boolean): void {
    this.#byId.set(frame.message.id, { frame, isSent, timer: this.#timer(frame) });
  }

  #timer(frame: RequestFrame): NodeJS.Timeout {
    const { startTimeoutMs, requestTimeoutMs } = this.#options;
    const isHandshake = HANDSHAKES.has(frame.message.method);
    const limitMs = isHandshake ? startTimeoutMs : requestTimeoutMs;
    return setTimeout(() => this.#expire(frame, limitMs), limitMs).unref();
  }

  #expire(frame: RequestFrame, limitMs: number): void {
    const { id, method } = frame.message;
    if (isOpenEnded(method)) {
      this.extend(id);
      return this.#options.onSilent();
    }
    if (method !== 'initialize') this.#delete(id);
    this.#options.onExpired(frame, `did not answer ${method} within ${limitMs / 1000} s`);
  }

  /** Gives a request its time again. */
  extend(id: Id): void {
    const pending = this.#byId.get(id);
    if (!pending) return;
    clearTimeout(pending.timer);
    pending.timer = this.#timer(pending.frame);
  }

  /** The upstream works on the request with this token. */
  progress(token: unknown): void {
    if (token === undefined) return;
    for (const [id, { frame }] of this.#byId) {
      if (objectIn(frame.message.params, '_meta')['progressToken'] === token) this.extend(id);
    }
  }

  #delete(id: Id): void {
    clearTimeout(this.#byId.get(id)?.timer);
    this.#byId.delete(id);
  }

  /** Removes a request. Undefined if there is none with this id. */
  take(id: Id): RequestFrame | undefined {
    const frame = this.#byId.get(id)?.frame;
    this.#delete(id);
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
    for (const id of unsafe) this.#delete(id);
    return unsafe;
  }

  /** Removes all. */
  clear(): readonly Id[] {
    const ids = [...this.#byId.keys()];
    for (const id of ids) this.#delete(id);
    return ids;
  }

  /** Those that the upstream does not have; they count as sent from now on. */
  unsent(): readonly RequestFrame[] {
    const all = [...this.#byId.values()].filter(({ isSent }) => !isSent);
    for (const pending of all) pending.isSent = true;
    return all.map(({ frame }) => frame);
  }
}
