import type { OperationState } from '../../operation.js';
import { LEASE } from './harness.fixture.js';

/**
 * A reference model of a store that shares none of its code: one process, a list, no indexes. Only for
 * operations without steps and approvals, which have their own tests.
 */
export interface ModelOperation {
  readonly id: string;
  /** The dedup key; then the explicit key, if there is one beside it. */
  readonly names: ModelName[];
  readonly idempotent: boolean;
  state: OperationState;
  owner: string | undefined;
  fence: number;
}

interface ModelName {
  readonly name: string;
  holds: boolean;
  until: number;
}

export interface ModelClaim {
  readonly id: string;
  readonly owner: string;
  readonly act: string;
  /** Whether the dedup key is an explicit key. */
  readonly byKey: boolean;
  /** An explicit key beside the dedup key. */
  readonly key: string | undefined;
  readonly idempotent: boolean;
  readonly duplicate: boolean;
}

/** The hold times of the dedup key and of the explicit key. */
type HoldMs = readonly [act: number, key: number];

const FINAL = new Set<OperationState>(['succeeded', 'rejected', 'released', 'reconciled']);

export class Model {
  now = 0;
  readonly operations: ModelOperation[] = [];
  readonly leases = new Map<string, number>();

  alive(owner: string | undefined): boolean {
    return owner !== undefined && (this.leases.get(owner) ?? 0) > this.now;
  }

  /** Whether it still holds the explicit key; else the dedup key. */
  holds(operation: ModelOperation, name = operation.names[0]!.name): boolean {
    const found = operation.names.find((one) => one.name === name && one.holds);
    return found !== undefined && (!FINAL.has(operation.state) || found.until > this.now);
  }

  registerOwner(owner: string): void {
    for (const operation of this.operations) if (operation.owner === owner) this.#lapse(operation);
    this.leases.set(owner, this.now + LEASE);
  }

  renew(owner: string): boolean {
    const lives = this.alive(owner);
    if (lives) this.leases.set(owner, this.now + LEASE);
    return lives;
  }

  evictOwner(owner: string): void {
    for (const operation of this.operations) if (operation.owner === owner) this.#lapse(operation);
    if (this.alive(owner)) this.leases.set(owner, this.now);
  }

  sweep(): number {
    const left = this.operations.filter((one) => this.#isFlying(one) && !this.alive(one.owner));
    for (const operation of left) this.#lapse(operation);
    return left.length;
  }

  /** The operation that a claim returns, and whether the caller owns it. */
  claim(wanted: ModelClaim): { mine: boolean; id: string } | 'lapsed' {
    const { id, owner, act, key, idempotent } = wanted;
    const keys = key === undefined ? [] : [{ name: key, repeats: false }];
    const asked = [...keys, { name: act, repeats: wanted.duplicate && !wanted.byKey }];
    const holderOf = (name: string) => this.operations.find((one) => this.holds(one, name));
    for (const { name, repeats } of asked) {
      const seen = holderOf(name);
      if (seen === undefined) continue;
      if (this.#isFlying(seen) && !this.alive(seen.owner)) break;
      if (!repeats) return { mine: false, id: seen.id };
    }
    if (!this.alive(owner)) return 'lapsed';
    let isFree = true;
    for (const { name, repeats } of asked) {
      const left = holderOf(name);
      if (left !== undefined && this.#isFlying(left) && !this.alive(left.owner)) this.#lapse(left);
      const holder = holderOf(name);
      if (holder !== undefined && !repeats) return { mine: false, id: holder.id };
      if (holder !== undefined) isFree = false;
      else this.#giveUp(name);
    }
    const names = [{ name: act, holds: isFree, until: 0 }];
    if (key !== undefined) names.push({ name: key, holds: true, until: 0 });
    this.operations.push({ id, owner, names, idempotent, state: 'claimed', fence: 1 });
    return { mine: true, id };
  }

  send(id: string, owner: string, fence: number): 'sent' | 'lost' {
    const one = this.operations.find((operation) => operation.id === id);
    if (one?.owner !== owner || one.fence !== fence || !this.#isFlying(one)) return 'lost';
    if (!this.alive(owner)) return 'lost';
    one.state = 'sending';
    return 'sent';
  }

  settle(id: string, owner: string, fence: number, state: OperationState, holdMs: HoldMs): boolean {
    const one = this.operations.find((operation) => operation.id === id);
    if (one?.owner !== owner || one.fence !== fence || FINAL.has(one.state)) return false;
    one.owner = undefined;
    if (state === 'unknown') {
      one.state = 'unknown';
      return true;
    }
    one.state = one.state === 'unknown' ? 'reconciled' : state;
    if (state === 'succeeded') this.#standFor(one);
    this.#hold(one, state === 'released' ? [0, 0] : holdMs);
    return true;
  }

  reconcile(id: string, executed: boolean, holdMs: HoldMs): boolean {
    const one = this.operations.find((operation) => operation.id === id);
    if (one?.state !== 'unknown') return false;
    Object.assign(one, { state: 'reconciled', owner: undefined, fence: one.fence + 1 });
    if (executed) this.#standFor(one);
    this.#hold(one, executed ? holdMs : [0, 0]);
    return true;
  }

  #isFlying({ state, owner }: ModelOperation): boolean {
    return owner !== undefined && (state === 'claimed' || state === 'sending');
  }

  #hold(one: ModelOperation, holdMs: HoldMs): void {
    for (const [at, name] of one.names.entries()) {
      const ms = holdMs[at] ?? 0;
      name.holds &&= ms > 0;
      name.until = this.now + ms;
    }
  }

  /** An executed duplicate takes the dedup key over, unless the holder is unsettled. */
  #standFor(one: ModelOperation): void {
    const [act] = one.names as [ModelName];
    if (act.holds) return;
    const isOpen = ({ id, state, names: [other] }: ModelOperation) =>
      id !== one.id && other?.name === act.name && other.holds && !FINAL.has(state);
    if (this.operations.some(isOpen)) return;
    this.#giveUp(act.name);
    act.holds = true;
  }

  #giveUp(name: string): void {
    for (const one of this.operations.flatMap(({ names }) => names)) {
      if (one.name === name) one.holds = false;
    }
  }

  #lapse(one: ModelOperation): void {
    if (!this.#isFlying(one)) return;
    if (one.state === 'sending' && !one.idempotent) {
      one.state = 'unknown';
      return;
    }
    Object.assign(one, { state: 'released', owner: undefined });
    this.#hold(one, [0, 0]);
  }
}
