import type { Clock } from '../time/clock.js';

interface Pending {
  readonly at: number;
  /** Ties are fired in the order in which they were set. */
  readonly order: number;
  readonly fire: () => void;
  cleared: boolean;
}

/** How many timers fire in one turn of the real event loop, each after the promises of the last. */
const BATCH = 256;

/**
 * Time that moves only when told to. Between two timers every promise that is ready runs, as in
 * real life, so that a day of retries takes milliseconds and always takes the same way.
 */
export class VirtualClock implements Clock {
  #now: number;
  readonly #epoch: number;
  readonly #heap: Pending[] = [];
  #order = 0;
  #live = 0;

  /** `startAt` is what `now()` says first; `epoch` is what `wallNow()` says first. */
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

  /** Timers that are set and have not fired. */
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

  /** Moves time on, firing what falls due on the way. */
  advance(byMs: number): Promise<void> {
    return this.advanceTo(this.#now + byMs);
  }

  async advanceTo(time: number): Promise<void> {
    await this.#drive(() => {
      const next = this.#peek();
      return next !== undefined && next.at <= time;
    });
    this.#now = Math.max(this.#now, time);
    await settle();
  }

  /** Moves time on until a promise settles, and gives its value. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let over = false;
    const done = (): void => void (over = true);
    promise.then(done, done);
    await this.#drive(() => !over);
    if (!over) throw new Error('the promise waits for something that no timer will bring');
    return promise;
  }

  /** Moves time on until no timer is left. */
  async drain(): Promise<void> {
    await this.#drive(() => true);
  }

  async #drive(more: () => boolean): Promise<void> {
    await settle();
    while (more() && this.#peek() !== undefined) {
      await new Promise<void>((resolve) => {
        // Promises run between two callbacks of one turn, which is far cheaper than a turn each.
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

  /** The earliest timer that still counts. */
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
      if (!sooner(timer, heap[parent]!)) break;
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
      if (child + 1 < heap.length && sooner(heap[child + 1]!, heap[child]!)) child++;
      if (!sooner(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}

function sooner(a: Pending, b: Pending): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Lets every promise that is ready run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
