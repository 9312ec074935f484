import type { TextEvent } from '@toolkeel/contract';
import { follow } from './follow.js';

type Emit = (event: TextEvent) => void;

/**
 * The events of one stream. Events are queued while the consumer is busy, so that its pauses never look
 * like a silent provider. Ending the iteration early cancels the request.
 */
export class EventQueue implements AsyncIterableIterator<TextEvent> {
  readonly #start: (emit: Emit, signal: AbortSignal) => void;
  readonly #outer: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #events: TextEvent[] = [];
  #waiting: ((result: IteratorResult<TextEvent>) => void)[] = [];
  #unfollow = (): void => undefined;
  #started = false;
  #ended = false;

  /** `outer` is the consumer's own signal. Aborting it ends the stream with an `error` event. */
  constructor(outer: AbortSignal | undefined, start: (emit: Emit, signal: AbortSignal) => void) {
    this.#outer = outer;
    this.#start = start;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<TextEvent>> {
    if (!this.#started) {
      this.#started = true;
      this.#unfollow = follow(this.#outer, this.#controller);
      this.#start((event) => this.#push(event), this.#controller.signal);
    }
    const event = this.#events.shift();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<TextEvent>> {
    const isRunning = this.#started && !this.#ended;
    this.#started = true;
    this.#end();
    this.#events.length = 0;
    if (isRunning) this.#controller.abort(new Error('the consumer left the stream'));
    return Promise.resolve({ done: true, value: undefined });
  }

  #push(event: TextEvent): void {
    if (this.#ended) return;
    const consumer = this.#waiting.shift();
    if (consumer) consumer({ done: false, value: event });
    else this.#events.push(event);
    if (event.type === 'done' || event.type === 'error') this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#unfollow();
    for (const consumer of this.#waiting) consumer({ done: true, value: undefined });
    this.#waiting = [];
  }
}
