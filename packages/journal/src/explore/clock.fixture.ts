import type { Clock } from '@toolkeel/kernel';

interface Timer {
  readonly at: number;
  readonly delayMs: number;
  readonly fire: () => void;
}

/** The time that all processes share. It moves only when an event says so. */
export interface SharedTime {
  /** Milliseconds since 1970. */
  now: number;
}

/** The clock of one process, whose timers stop with the process. */
export class ProcessClock implements Clock {
  readonly #time: SharedTime;
  readonly #timers = new Set<Timer>();

  constructor(time: SharedTime) {
    this.#time = time;
  }

  now(): number {
    return this.#time.now;
  }

  wallNow(): number {
    return this.#time.now;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const timer = { at: this.#time.now + Math.max(0, delayMs), delayMs, fire };
    this.#timers.add(timer);
    return timer;
  }

  clearTimer(timer: unknown): void {
    this.#timers.delete(timer as Timer);
  }

  /** When timers are due. */
  times(): readonly number[] {
    return [...this.#timers].map(({ at }) => at);
  }

  isDue(): boolean {
    for (const { at } of this.#timers) if (at <= this.#time.now) return true;
    return false;
  }

  /** Fires what is due, in the order of time. */
  fireDue(): void {
    const due = [...this.#timers].filter(({ at }) => at <= this.#time.now);
    for (const timer of due.toSorted((one, other) => one.at - other.at)) this.#fire(timer);
  }

  /** One round of periodic work, whenever it is due: of all of it, or of what has this period. */
  firePeriodic(ms?: number): void {
    const round = [...this.#timers].filter(({ delayMs }) => ms === undefined || delayMs === ms);
    for (const timer of round) this.#fire(timer);
  }

  discard(): void {
    this.#timers.clear();
  }

  /** Unless another one has cleared it. */
  #fire(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.fire();
  }
}

/** Lets every promise that is ready run. */
export function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
