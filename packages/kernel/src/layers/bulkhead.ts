import type { Call } from '../engine/call.js';
import type { Admission, Layer, LoopSettings } from '../engine/layer.js';
import { checkNumber } from '../decide/validate.js';
import type { Fault } from '../fault.js';

export interface BulkheadOptions {
  /** Concurrent calls. */
  readonly limit: number;
  /** Calls that may wait for a slot; further calls fail with `overloaded` immediately. Default 0. */
  readonly queue?: number;
}

/** Limits concurrent calls, queues some, and rejects the rest. */
export class Bulkhead implements Layer, Admission {
  readonly name = 'bulkhead';
  readonly loop: LoopSettings = { admission: this };
  readonly #limit: number;
  readonly #queueSize: number;
  readonly #queue = new Set<Call>();
  #inFlight = 0;
  #isAdmitting = false;

  constructor({ limit, queue = 0 }: BulkheadOptions) {
    checkNumber('bulkhead.limit', limit, { min: 1, integer: true });
    checkNumber('bulkhead.queue', queue, { min: 0, integer: true });
    this.#limit = limit;
    this.#queueSize = queue;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#queue.size;
  }

  enter(call: Call, now: number): Fault | 'queued' | undefined {
    // Queued calls come first.
    if (this.#inFlight < this.#limit && this.#queue.size === 0) {
      this.#inFlight++;
      return undefined;
    }
    if (this.#queue.size >= this.#queueSize) return { kind: 'overloaded', sent: 'no' };
    call.emit(now, { type: 'queue_wait', ahead: this.#queue.size });
    this.#queue.add(call);
    return 'queued';
  }

  leave(call: Call, now: number): void {
    if (this.#queue.delete(call)) return;
    this.#inFlight--;
    if (!this.#isAdmitting) this.#admitQueued(now);
  }

  /** Iterates, because an admitted call may settle at once and a recursion could overflow the stack. */
  #admitQueued(now: number): void {
    this.#isAdmitting = true;
    for (const next of this.#queue) {
      if (this.#inFlight >= this.#limit) break;
      this.#queue.delete(next);
      this.#inFlight++;
      next.startAttempt(now);
    }
    this.#isAdmitting = false;
  }
}

export function bulkhead(options: BulkheadOptions): Bulkhead {
  return new Bulkhead(options);
}
