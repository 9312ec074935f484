import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';

/** Requests begun in one turn of the event loop: more answers could far exceed the output's buffer. */
const SLICE = 16;
/** Characters of requests that are held before the input is paused. */
const MAX_HELD = 256 * 1024;
const MAX_IN_FLIGHT = 1024;

/** The stream that requests come from. */
interface Input {
  pause(): unknown;
  resume(): unknown;
}

interface Held {
  readonly begin: (message: JSONRPCMessage) => void;
  readonly message: JSONRPCMessage;
  readonly size: number;
}

/**
 * Backpressure: holds requests while the client does not read its answers, and while too many are in
 * flight. Beyond a bounded number of held requests it pauses the input.
 */
export class Intake {
  readonly #input: Input;
  /** In order of arrival. */
  readonly #held = new Map<RequestId | symbol, Held>();
  /** Too low after a cancellation of a request that was answered already, never too high. */
  #inFlight = 0;
  #heldSize = 0;
  #slice = SLICE;
  #isBlocked = false;
  #isPaused = false;
  #nextTurn: NodeJS.Immediate | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(input: Input) {
    this.#input = input;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  /** A chunk of input has arrived: its requests come next. */
  beginChunk(): void {
    this.#slice = SLICE;
  }

  /**
   * Calls `begin` with a request, now or later: it is in flight until it is answered or cancelled.
   * `size` is its length.
   */
  add(
    id: RequestId | undefined,
    begin: Held['begin'],
    message: JSONRPCMessage,
    size: number,
  ): void {
    if (this.#held.size === 0 && this.#isOpen() && this.#slice > 0) {
      this.#slice--;
      this.#inFlight++;
      return begin(message);
    }
    // Two requests with one id are the client's mistake, but both need an answer.
    const key = id === undefined || this.#held.has(id) ? Symbol('request') : id;
    this.#held.set(key, { begin, message, size });
    this.#heldSize += size;
    if (this.#isOpen()) this.#schedule();
    if (this.#heldSize < MAX_HELD || this.#isPaused) return;
    this.#isPaused = true;
    this.#input.pause();
  }

  /** True where the request was held: it is never begun. */
  cancel(id: RequestId): boolean {
    const held = this.#held.get(id);
    if (held) this.#drop(id, held);
    else this.answered();
    return held !== undefined;
  }

  /** A request has been answered. */
  answered(): void {
    if (this.#inFlight > 0) this.#inFlight--;
    this.#schedule();
  }

  /** The output's buffer is full. */
  block(): void {
    this.#isBlocked = true;
  }

  /** The output has room again. */
  unblock(): void {
    this.#isBlocked = false;
    this.#schedule();
  }

  /** Calls back when no request is held and the last one has had a turn to be answered. */
  whenEmpty(callback: () => void): void {
    this.#onEmpty = callback;
  }

  /** Discards the held requests. */
  close(): void {
    clearImmediate(this.#nextTurn);
    this.#held.clear();
    this.#onEmpty = undefined;
    this.#isPaused = false;
  }

  #isOpen(): boolean {
    return !this.#isBlocked && this.#inFlight < MAX_IN_FLIGHT;
  }

  #drop(key: RequestId | symbol, { size }: Held): void {
    this.#held.delete(key);
    this.#heldSize -= size;
  }

  #schedule(): void {
    if (this.#held.size === 0 && !this.#isPaused && !this.#onEmpty) return;
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
    let slice = SLICE;
    for (const [key, held] of this.#held) {
      if (slice-- === 0 || !this.#isOpen()) break;
      this.#drop(key, held);
      this.#inFlight++;
      held.begin(held.message);
    }
    // Otherwise `unblock` or `answered` schedules the next turn.
    if (this.#isOpen()) this.#schedule();
  };
}
