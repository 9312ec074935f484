import type { Clock, Timer } from '@toolkeel/kernel';
import type { Phase } from './errors.js';

/**
 * The timeouts of one attempt, in milliseconds. Each is a fault of its own, named by `clock`:
 *
 * - `connect`: the connection, or the start of the CLI
 * - `headers`: from there to the head of the response
 * - `first_content`: from there to the first content, thinking included
 * - `byte_idle`: without any byte, once the response has begun
 * - `content_idle`: without content after the first; keep-alive comments do not count
 * - `total`: the whole attempt
 *
 * The deadline of the call over all attempts and waits is `deadline`.
 */
export interface Timeouts {
  readonly connectMs?: number;
  readonly headersMs?: number;
  readonly firstContentMs?: number;
  readonly byteIdleMs?: number;
  readonly contentIdleMs?: number;
  readonly totalMs?: number;
}

export type ClockName =
  | 'connect'
  | 'headers'
  | 'first_content'
  | 'byte_idle'
  | 'content_idle'
  | 'total';

/** The longest delay of a Node.js timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Watches one attempt. Bytes arrive often, so idle timers are moved when they fire, not on each byte. */
export class AttemptClocks {
  readonly #clock: Clock;
  readonly #timeouts: Timeouts;
  readonly #onTimeout: (name: ClockName, timeoutMs: number) => void;
  readonly #timers = new Map<ClockName, Timer>();
  /** When an idle clock would fire. */
  readonly #due = new Map<ClockName, number>();
  #phase: Phase = 'queued';
  #ended = false;

  constructor(
    clock: Clock,
    timeouts: Timeouts,
    onTimeout: (name: ClockName, timeoutMs: number) => void,
  ) {
    this.#clock = clock;
    this.#timeouts = timeouts;
    this.#onTimeout = onTimeout;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The attempt begins; time in a local queue does not count. */
  begin(): void {
    if (this.#ended || this.#phase !== 'queued') return;
    this.#phase = 'connect';
    this.#arm('total', this.#timeouts.totalMs);
    this.#arm('connect', this.#timeouts.connectMs);
  }

  connected(): void {
    if (this.#ended || this.#phase !== 'connect') return;
    this.#phase = 'headers';
    this.#disarm('connect');
    this.#arm('headers', this.#timeouts.headersMs);
  }

  headers(): void {
    this.connected();
    if (this.#ended || this.#phase !== 'headers') return;
    this.#phase = 'first_content';
    this.#disarm('headers');
    this.#arm('first_content', this.#timeouts.firstContentMs);
    this.#arm('byte_idle', this.#timeouts.byteIdleMs);
  }

  bytes(): void {
    this.#postpone('byte_idle', this.#timeouts.byteIdleMs);
  }

  content(): void {
    this.headers();
    if (this.#ended) return;
    if (this.#phase === 'first_content') {
      this.#phase = 'stream';
      this.#disarm('first_content');
      this.#arm('content_idle', this.#timeouts.contentIdleMs);
    } else this.#postpone('content_idle', this.#timeouts.contentIdleMs);
  }

  end(): void {
    this.#ended = true;
    for (const name of this.#timers.keys()) this.#disarm(name);
  }

  #arm(name: ClockName, timeoutMs: number | undefined): void {
    if (timeoutMs === undefined || this.#ended) return;
    this.#due.set(name, this.#clock.now() + timeoutMs);
    this.#wait(name, timeoutMs, timeoutMs);
  }

  #wait(name: ClockName, delayMs: number, timeoutMs: number): void {
    const timer = this.#clock.setTimer(Math.min(delayMs, MAX_TIMER_MS), () => {
      this.#timers.delete(name);
      const left = (this.#due.get(name) ?? 0) - this.#clock.now();
      // Half a millisecond: timers may fire that much early.
      if (left > 0.5) return this.#wait(name, left, timeoutMs);
      this.end();
      this.#onTimeout(name, timeoutMs);
    });
    this.#timers.set(name, timer);
  }

  #postpone(name: ClockName, timeoutMs: number | undefined): void {
    if (timeoutMs !== undefined && this.#timers.has(name)) {
      this.#due.set(name, this.#clock.now() + timeoutMs);
    }
  }

  #disarm(name: ClockName): void {
    const timer = this.#timers.get(name);
    if (timer === undefined) return;
    this.#timers.delete(name);
    this.#clock.clearTimer(timer);
  }
}
