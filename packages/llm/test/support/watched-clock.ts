import { systemClock, type Clock } from '@toolkeel/kernel';

/** The system clock with a bare control timer beside every timer of one duration, and a count of what is armed. */
export class WatchedClock implements Clock {
  readonly #watchedMs: number;
  readonly #armed = new Set<unknown>();
  #control: NodeJS.Timeout | undefined;
  #controlDueAt = 0;
  /** When the control timer fired. */
  firedAt: number | undefined;

  constructor(watchedMs: number) {
    this.#watchedMs = watchedMs;
  }

  get armed(): number {
    return this.#armed.size;
  }

  /** How late the control timer itself was: how busy the machine is. */
  get controlLateMs(): number {
    return (this.firedAt ?? Infinity) - this.#controlDueAt;
  }

  now = systemClock.now;
  wallNow = systemClock.wallNow;

  setTimer(delayMs: number, fire: () => void): unknown {
    if (delayMs === this.#watchedMs) this.startControl();
    const timer = systemClock.setTimer(delayMs, () => {
      this.#armed.delete(timer);
      fire();
    });
    this.#armed.add(timer);
    return timer;
  }

  clearTimer(timer: unknown): void {
    this.#armed.delete(timer);
    systemClock.clearTimer(timer);
  }

  /** Starts the control timer, again if it runs. */
  startControl(): void {
    clearTimeout(this.#control);
    this.firedAt = undefined;
    this.#controlDueAt = performance.now() + this.#watchedMs;
    this.#control = setTimeout(() => {
      this.firedAt = performance.now();
    }, this.#watchedMs);
  }
}
