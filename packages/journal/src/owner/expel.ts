import type { Operation } from '../operation.js';
import type { JournalStore } from '../store/store.js';
import type { Liveness } from './process.js';

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
