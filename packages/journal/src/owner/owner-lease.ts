import type { Clock } from '@toolkeel/kernel';
import { every, type Background } from '../background/every.js';
import { JournalError } from '../error.js';
import type { Operation } from '../operation.js';
import type { JournalStore } from '../store/store.js';
import type { Liveness, ProcessRef } from './process.js';

/** The lease of this process in the store. A background timer renews it. */
export interface OwnerLease {
  /** The owner id for new claims. Registers the process if it holds no lease. */
  readonly current: () => Promise<string>;
  /** Whether this process has ever held the lease of that id. */
  readonly isOurs: (id: string) => boolean;
  /** The store reported this lease as expired: the next `current` registers under a new id. */
  readonly lapsed: (id: string) => void;
  readonly close: () => Promise<void>;
}

interface OwnerLeaseOptions {
  readonly store: Pick<JournalStore, 'registerOwner' | 'renew' | 'deregisterOwner'>;
  readonly clock: Clock;
  readonly self: ProcessRef;
  readonly tools: () => readonly string[];
  readonly newId: () => string;
  readonly leaseMs: number;
  readonly report: (cause: unknown) => void;
}

export function ownerLease(options: OwnerLeaseOptions): OwnerLease {
  const { store, clock, self, tools, newId, leaseMs, report } = options;
  const ours = new Set<string>();
  let held: string | undefined;
  let registration: Promise<string> | undefined;
  let renewal: Background | undefined;
  let closed = false;

  const register = async (): Promise<string> => {
    const id = newId();
    ours.add(id);
    await store.registerOwner({ id, ...self, tools: tools() }, leaseMs);
    held = id;
    renewal ??= every({ clock, report, ms: leaseMs / 3, work: renew });
    return id;
  };
  const lapsed = (id: string): void => {
    if (held === id) held = undefined;
  };
  const renew = async (): Promise<void> => {
    if (held === undefined) return void (await current());
    const id = held;
    if (!(await store.renew(id, leaseMs))) lapsed(id);
  };
  const current = async (): Promise<string> => {
    if (closed) throw new JournalError('unavailable', 'the journal of this process is closed');
    if (held !== undefined) return held;
    registration ??= register().finally(() => {
      registration = undefined;
    });
    return registration;
  };

  return {
    current,
    lapsed,
    isOurs: (id) => ours.has(id),
    close: async () => {
      closed = true;
      await renewal?.stop();
      await registration?.catch(report);
      // A failed write only delays the release until the lease expires, so it must not stop the shutdown.
      if (held !== undefined) await store.deregisterOwner(held).catch(report);
      held = undefined;
    },
  };
}

/**
 * Evicts the owner of an operation if its process on this host has ended, so that callers do not wait
 * for the lease to expire. Resolves to whether an owner was evicted.
 */
export function ownerEvictor(
  store: Pick<JournalStore, 'owner' | 'evictOwner'>,
  liveness: Liveness,
): (operation: Operation) => Promise<boolean> {
  const self = liveness.self();
  return async ({ owner: id }) => {
    const owner = id === undefined ? undefined : await store.owner(id);
    if (!owner || owner.host !== self.host || liveness.isAlive(owner)) return false;
    await store.evictOwner(owner.id);
    return true;
  };
}
