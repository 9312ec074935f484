import type { Call } from '../engine/call.js';
import type { Layer, Waiting } from '../engine/layer.js';
import { checkNumber } from '../decide/validate.js';
import type { Fault } from '../fault.js';

export interface BulkheadOptions {
  /** Calls under way at once. */
  readonly limit: number;
  /** Calls that may wait for a place; one more is `overloaded` at once. Default 0. */
  readonly queue?: number;
}

/** A call that waits for its turn. Withdrawing only marks it: the queue skips it when its turn comes. */
class Turn implements Waiting {
  readonly call: Call;
  readonly #bulkhead: Bulkhead;
  gone = false;

  constructor(call: Call, bulkhead: Bulkhead) {
    this.call = call;
    this.#bulkhead = bulkhead;
  }

  withdraw(): void {
    if (!this.gone) this.#bulkhead.forget(this);
  }
}

/** So many calls at a time, so many in the queue, and a quick no to the rest. */
export class Bulkhead implements Layer {
  readonly name = 'bulkhead';
  readonly #limit: number;
  readonly #places: number;
  readonly #turns = new Set<Turn>();
  #underWay = 0;

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
    return this.#turns.size;
  }

  enter(call: Call, now: number): Fault | Waiting | undefined {
    if (this.#underWay < this.#limit) {
      this.#underWay++;
      return undefined;
    }
    if (this.#turns.size >= this.#places) return { kind: 'overloaded', sent: 'no' };
    const turn = new Turn(call, this);
    if (call.watched) call.emit(now, { type: 'queue_wait', ahead: this.#turns.size });
    this.#turns.add(turn);
    return turn;
  }

  leave(_call: Call, now: number): void {
    for (const turn of this.#turns) {
      // The place goes from hand to hand: a newcomer cannot slip in between.
      this.forget(turn);
      turn.call.admit(now);
      return;
    }
    this.#underWay--;
  }

  forget(turn: Turn): void {
    turn.gone = true;
    this.#turns.delete(turn);
  }
}

export function bulkhead(options: BulkheadOptions): Bulkhead {
  return new Bulkhead(options);
}
