import type { Clock } from '../time/clock.js';

interface Pending {
  readonly at: number;
  /** Timers that are due at the same time fire in this order. */
  readonly order: number;
  readonly fire: () => void;
  cleared: boolean;
}

/** Timers that fire in one turn of the real event loop. Promises run after each. */
const BATCH = 256;

/**
 * A clock that advances only on request. Pending promises run between two timers, as they do in real
 * time, so that a day of retries takes milliseconds and is deterministic.
 */
export class VirtualClock implements Clock {
  #now: number;
  readonly #epoch: number;
  readonly #heap: Pending[] = [];
  #order = 0;
  #live = 0;

  /** `startAt` is the initial `now()`, `epoch` the initial `wallNow()`. */
  constructor({ startAt = 0, epoch = 0 }: { startAt?: number; epoch?: number } = {}) {
    this.#now = startAt;
    this.#epoch = epoch - startAt;
  }

  now(): number {
    return this.#now;
  }

  wallNow(): number {
    return this.#epoch + this.#now;
  }

  /** Number of timers that have not fired. */
  get pending(): number {
    return this.#live;
  }

  setTimer(delayMs: number, fire: () => void): Pending {
    const timer: Pending = {
      at: this.#now + Math.max(0, delayMs),
      order: this.#order++,
      fire,
      cleared: false,
    };
    this.#live++;
    this.#push(timer);
    return timer;
  }

  clearTimer(timer: unknown): void {
    const pending = timer as Pending;
    if (pending.cleared) return;
    pending.cleared = true;
    this.#live--;
  }

  /** Advances the time and fires the timers that are due. */
  advance(byMs: number): Promise<void> {
    return this.advanceTo(this.#now + byMs);
  }

  async advanceTo(time: number): Promise<void> {
    await this.#runTimers(() => {
      const next = this.#peek();
      return next !== undefined && next.at <= time;
    });
    this.#now = Math.max(this.#now, time);
    await flushPromises();
  }

  /** Advances the time until a promise settles and returns its value. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = (): void => void (settled = true);
    promise.then(done, done);
    await this.#runTimers(() => !settled);
    if (!settled) throw new Error('the promise is pending and no timer is left');
    return promise;
  }

  /** Advances the time until no timer is left. */
  async drain(): Promise<void> {
    await this.#runTimers(() => true);
  }

  async #runTimers(more: () => boolean): Promise<void> {
    await flushPromises();
    while (more() && this.#peek() !== undefined) {
      await new Promise<void>((resolve) => {
        // Promises run between the callbacks of one turn, so a turn per timer is not needed.
        for (let i = 0; i < BATCH; i++) setImmediate(() => this.#fireNext(more));
        setImmediate(resolve);
      });
    }
  }

  #fireNext(more: () => boolean): void {
    if (!more()) return;
    const timer = this.#pop();
    if (timer === undefined) return;
    this.#now = Math.max(this.#now, timer.at);
    timer.cleared = true;
    this.#live--;
    timer.fire();
  }

  /** The earliest timer that is not cleared. */
  #peek(): Pending | undefined {
    while (this.#heap[0]?.cleared) this.#popAny();
    return this.#heap[0];
  }

  #pop(): Pending | undefined {
    this.#peek();
    return this.#popAny();
  }

  #push(timer: Pending): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isEarlier(timer, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = timer;
  }

  #popAny(): Pending | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isEarlier(heap[child + 1]!, heap[child]!)) child++;
      if (!isEarlier(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}

function isEarlier(a: Pending, b: Pending): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Runs pending promises. */
function flushPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
