import { JournalError } from '../error.js';
import { every, type Background } from '../background/every.js';
import type { Clock } from '@toolkeel/kernel';
import type { JournalStore } from '../store/store.js';
import type { Liveness, ProcessRef } from './process.js';
import type { Operation } from '../operation.js';

/** This process as the store knows it, under an id that is renewed while it lives. */
export interface Tenure {
  /** The id that new operations are claimed under. Enlists when there is none yet. */
  readonly current: () => Promise<string>;
  /** Whether this process was ever known by that id. */
  readonly isOurs: (id: string) => boolean;
  /** The store says that this id has lapsed: the next `current` is another one. */
  readonly lapsed: (id: string) => void;
  readonly close: () => Promise<void>;
}

interface TenureOptions {
  readonly store: Pick<JournalStore, 'registerOwner' | 'renew' | 'deregisterOwner'>;
  readonly clock: Clock;
  readonly self: ProcessRef;
  readonly tools: () => readonly string[];
  readonly newId: () => string;
  readonly leaseMs: number;
  readonly report: (cause: unknown) => void;
}

export function tenure(options: TenureOptions): Tenure {
  const { store, clock, self, tools, newId, leaseMs, report } = options;
  const ours = new Set<string>();
  let now: string | undefined;
  let enlisting: Promise<string> | undefined;
  let renewal: Background | undefined;
  let closed = false;

  const registerOwner = async (): Promise<string> => {
    const id = newId();
    ours.add(id);
    await store.registerOwner({ id, ...self, tools: tools() }, leaseMs);
    now = id;
    renewal ??= every({ clock, report, ms: leaseMs / 3, work: renew });
    return id;
  };
  const lapsed = (id: string): void => {
    if (now === id) now = undefined;
  };
  const renew = async (): Promise<void> => {
    if (now === undefined) return void (await current());
    const held = now;
    if (!(await store.renew(held, leaseMs))) lapsed(held);
  };
  const current = async (): Promise<string> => {
    if (closed) throw new JournalError('unavailable', 'the journal of this process is closed');
    if (now !== undefined) return now;
    enlisting ??= registerOwner().finally(() => {
      enlisting = undefined;
    });
    return enlisting;
  };

  return {
    current,
    lapsed,
    isOurs: (id) => ours.has(id),
    close: async () => {
      closed = true;
      await renewal?.stop();
      await enlisting?.catch(report);
      // Where that cannot be written the lease lapses by itself, and whoever closes has more to close.
      if (now !== undefined) await store.deregisterOwner(now).catch(report);
      now = undefined;
    },
  };
}

/**
 * Ends the lease of an owner whose process is gone, where that can be seen from here: nobody has to
 * wait for what surely does not come. True: there is something new to be seen.
 */
export function expeller(
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
