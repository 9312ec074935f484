import type { Call } from '../engine/call.js';
import type { Admission, Layer, LoopSettings } from '../engine/layer.js';
import { checkNumber } from '../decide/validate.js';
import type { Fault } from '../fault.js';

export interface BulkheadOptions {
  /** Calls under way at once. */
  readonly limit: number;
  /** Calls that may wait for a place; one more is `overloaded` at once. Default 0. */
  readonly queue?: number;
}

/** So many calls at a time, so many in the queue, and a quick no to the rest. */
export class Bulkhead implements Layer, Admission {
  readonly name = 'bulkhead';
  readonly loop: LoopSettings = { admission: this };
  readonly #limit: number;
  readonly #places: number;
  readonly #waiting = new Set<Call>();
  #underWay = 0;
  #handingOver = false;

  constructor({ limit, queue = 0 }: BulkheadOptions) {
    checkNumber('bulkhead.limit', limit, { min: 1, integer: true });
    checkNumber('bulkhead.queue', queue, { min: 0, integer: true });
    this.#limit = limit;
    this.#places = queue;
  }

  get underWay(): number {
    return this.#underWay;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  enter(call: Call, now: number): Fault | 'queued' | undefined {
    // Nobody slips in while others wait.
    if (this.#underWay < this.#limit && this.#waiting.size === 0) {
      this.#underWay++;
      return undefined;
    }
    if (this.#waiting.size >= this.#places) return { kind: 'overloaded', sent: 'no' };
    call.tell(now, { type: 'queue_wait', ahead: this.#waiting.size });
    this.#waiting.add(call);
    return 'queued';
  }

  leave(call: Call, now: number): void {
    if (this.#waiting.delete(call)) return;
    this.#underWay--;
    if (!this.#handingOver) this.#handOver(now);
  }

  /** In a loop: a call may end as soon as it is let in, and a long queue of those must not nest. */
  #handOver(now: number): void {
    this.#handingOver = true;
    for (const next of this.#waiting) {
      if (this.#underWay >= this.#limit) break;
      this.#waiting.delete(next);
      this.#underWay++;
      next.relaunch(now);
    }
    this.#handingOver = false;
  }
}

export function bulkhead(options: BulkheadOptions): Bulkhead {
  return new Bulkhead(options);
}
