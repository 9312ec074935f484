import type { OperationState } from '../../operation.js';
import { LEASE } from './harness.fixture.js';

/**
 * What a store should do, said again as plainly as possible and with none of its code: one process,
 * a list, no indexes. Only for operations without steps and approvals; those have their own tests.
 */
export interface ModelOperation {
  readonly id: string;
  readonly key: string;
  readonly byKey: boolean;
  readonly idempotent: boolean;
  state: OperationState;
  owner: string | undefined;
  fence: number;
  holds: boolean;
  heldUntil: number;
}

export interface ModelClaim {
  readonly id: string;
  readonly owner: string;
  readonly key: string;
  readonly byKey: boolean;
  readonly idempotent: boolean;
  readonly duplicate: boolean;
}

const FINAL = new Set<OperationState>(['succeeded', 'rejected', 'released', 'reconciled']);

export class Model {
  now = 0;
  readonly operations: ModelOperation[] = [];
  readonly leases = new Map<string, number>();

  alive(owner: string | undefined): boolean {
    return owner !== undefined && (this.leases.get(owner) ?? 0) > this.now;
  }

  holds(operation: ModelOperation): boolean {
    if (!operation.holds) return false;
    return !FINAL.has(operation.state) || operation.heldUntil > this.now;
  }

  enlist(owner: string): void {
    for (const operation of this.operations) if (operation.owner === owner) this.#lapse(operation);
    this.leases.set(owner, this.now + LEASE);
  }

  renew(owner: string): boolean {
    const lives = this.alive(owner);
    if (lives) this.leases.set(owner, this.now + LEASE);
    return lives;
  }

  expel(owner: string): void {
    for (const operation of this.operations) if (operation.owner === owner) this.#lapse(operation);
    if (this.alive(owner)) this.leases.set(owner, this.now);
  }

  sweep(): number {
    const left = this.operations.filter((one) => this.#isFlying(one) && !this.alive(one.owner));
    for (const operation of left) this.#lapse(operation);
    return left.length;
  }

  /** Which operation the caller gets to see, and whether it is his. */
  claim(wanted: ModelClaim): { mine: boolean; id: string } | 'lapsed' {
    const repeats = wanted.duplicate && !wanted.byKey;
    const same = (one: ModelOperation): boolean =>
      one.key === wanted.key && one.byKey === wanted.byKey;
    const seen = this.operations.find((one) => same(one) && this.holds(one));
    if (seen !== undefined && !repeats && FINAL.has(seen.state))
      return { mine: false, id: seen.id };
    if (seen !== undefined && !repeats && (!this.#isFlying(seen) || this.alive(seen.owner))) {
      return { mine: false, id: seen.id };
    }
    if (!this.alive(wanted.owner)) return 'lapsed';
    if (seen !== undefined && this.#isFlying(seen) && !this.alive(seen.owner)) this.#lapse(seen);
    const holder = this.operations.find((one) => same(one) && this.holds(one));
    if (holder !== undefined && !repeats) return { mine: false, id: holder.id };
    const settled = holder !== undefined && FINAL.has(holder.state);
    if (settled) holder.holds = false;
    const free = holder === undefined || settled;
    for (const one of this.operations) if (same(one) && !this.holds(one)) one.holds = false;
    const { duplicate: _, ...rest } = wanted;
    this.operations.push({ ...rest, state: 'claimed', fence: 1, holds: free, heldUntil: 0 });
    return { mine: true, id: wanted.id };
  }

  send(id: string, owner: string, fence: number): 'sent' | 'lost' {
    const one = this.operations.find((operation) => operation.id === id);
    if (one?.owner !== owner || one.fence !== fence || !this.#isFlying(one)) return 'lost';
    if (!this.alive(owner)) return 'lost';
    one.state = 'sending';
    return 'sent';
  }

  settle(id: string, owner: string, fence: number, state: OperationState, holdMs: number): boolean {
    const one = this.operations.find((operation) => operation.id === id);
    if (one?.owner !== owner || one.fence !== fence || FINAL.has(one.state)) return false;
    one.owner = undefined;
    if (state === 'unknown') {
      one.state = 'unknown';
      return true;
    }
    one.state = one.state === 'unknown' ? 'reconciled' : state;
    this.#hold(one, state === 'released' ? 0 : holdMs);
    return true;
  }

  reconcile(id: string, executed: boolean, holdMs: number): boolean {
    const one = this.operations.find((operation) => operation.id === id);
    if (one?.state !== 'unknown') return false;
    Object.assign(one, { state: 'reconciled', owner: undefined, fence: one.fence + 1 });
    this.#hold(one, executed ? holdMs : 0);
    return true;
  }

  #isFlying({ state, owner }: ModelOperation): boolean {
    return owner !== undefined && (state === 'claimed' || state === 'sending');
  }

  #hold(one: ModelOperation, holdMs: number): void {
    one.holds &&= holdMs > 0;
    one.heldUntil = this.now + holdMs;
  }

  #lapse(one: ModelOperation): void {
    if (!this.#isFlying(one)) return;
    if (one.state === 'sending' && !one.idempotent) {
      one.state = 'unknown';
      return;
    }
    Object.assign(one, { state: 'released', owner: undefined, holds: false });
  }
}
