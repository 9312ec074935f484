import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';

/** Requests started per turn of the event loop: more responses could far exceed the output buffer. */
const BATCH = 16;
/** Characters of queued requests before the input is paused. */
const MAX_QUEUED = 256 * 1024;
const MAX_IN_FLIGHT = 1024;

/** The stream that requests come from. */
interface Input {
  pause(): unknown;
  resume(): unknown;
}

interface QueuedRequest {
  readonly start: (message: JSONRPCMessage) => void;
  readonly message: JSONRPCMessage;
  readonly size: number;
}

/**
 * Backpressure: queues requests while the client does not read its responses, and while too many are in
 * flight. Pauses the input when the queue is full.
 */
export class RequestQueue {
  readonly #input: Input;
  /** In order of arrival. */
  readonly #requests = new Map<RequestId | symbol, QueuedRequest>();
  /** Too low after the cancellation of a request that was already answered; never too high. */
  #inFlight = 0;
  #queuedSize = 0;
  #budget = BATCH;
  #isBlocked = false;
  #isPaused = false;
  #nextTurn: NodeJS.Immediate | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(input: Input) {
    this.#input = input;
  }

  get isEmpty(): boolean {
    return this.#requests.size === 0;
  }

  /** Call when a chunk of input arrives, before its requests are added. */
  beginChunk(): void {
    this.#budget = BATCH;
  }

  /**
   * Calls `start` with a request, now or later. It is in flight until it is answered or cancelled. `size`
   * is its length.
   */
  add(
    id: RequestId | undefined,
    start: QueuedRequest['start'],
    message: JSONRPCMessage,
    size: number,
  ): void {
    if (this.#requests.size === 0 && this.#isOpen() && this.#budget > 0) {
      this.#budget--;
      this.#inFlight++;
      return start(message);
    }
    // Duplicate ids are an error of the client, but both requests need a response.
    const key = id === undefined || this.#requests.has(id) ? Symbol('request') : id;
    this.#requests.set(key, { start, message, size });
    this.#queuedSize += size;
    if (this.#isOpen()) this.#schedule();
    if (this.#queuedSize < MAX_QUEUED || this.#isPaused) return;
    this.#isPaused = true;
    this.#input.pause();
  }

  /** Returns true if the request was queued: it is never started. */
  cancel(id: RequestId): boolean {
    const queued = this.#requests.get(id);
    if (queued) this.#drop(id, queued);
    else this.complete();
    return queued !== undefined;
  }

  /** Call when a request has been answered. */
  complete(): void {
    if (this.#inFlight > 0) this.#inFlight--;
    this.#schedule();
  }

  /** Call when the output buffer is full. */
  block(): void {
    this.#isBlocked = true;
  }

  /** Call when the output buffer has drained. */
  unblock(): void {
    this.#isBlocked = false;
    this.#schedule();
  }

  /** Calls back when the queue is empty and the last request has had a turn to be answered. */
  whenEmpty(callback: () => void): void {
    this.#onEmpty = callback;
  }

  /** Discards the queued requests. */
  close(): void {
    clearImmediate(this.#nextTurn);
    this.#requests.clear();
    this.#onEmpty = undefined;
    this.#isPaused = false;
  }

  #isOpen(): boolean {
    return !this.#isBlocked && this.#inFlight < MAX_IN_FLIGHT;
  }

  #drop(key: RequestId | symbol, { size }: QueuedRequest): void {
    this.#requests.delete(key);
    this.#queuedSize -= size;
  }

  #schedule(): void {
    if (this.#requests.size === 0 && !this.#isPaused && !this.#onEmpty) return;
    this.#nextTurn ??= setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#nextTurn = undefined;
    if (this.isEmpty) {
      if (this.#isPaused) this.#input.resume();
      this.#isPaused = false;
      this.#onEmpty?.();
      return;
    }
    let budget = BATCH;
    for (const [key, queued] of this.#requests) {
      if (budget-- === 0 || !this.#isOpen()) break;
      this.#drop(key, queued);
      this.#inFlight++;
      queued.start(queued.message);
    }
    // Otherwise `unblock` or `complete` schedules the next turn.
    if (this.#isOpen()) this.#schedule();
  };
}
