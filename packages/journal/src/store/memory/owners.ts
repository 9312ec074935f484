import type { Owner } from '../../operation.js';
import type { OwnersTable } from '../tables.js';

export interface MemoryOwners extends OwnersTable {
  readonly isAlive: (id: string) => boolean;
}

/* oxlint-disable require-yield -- Nothing here has to be asked of anybody else. */
export function memoryOwners(now: () => number, ownsSome: (id: string) => boolean): MemoryOwners {
  const all = new Map<string, Owner & { readonly leaseUntil: number }>();
  const isAlive = (id: string): boolean => (all.get(id)?.leaseUntil ?? 0) > now();

  return {
    isAlive,
    *get(id) {
      return all.get(id);
    },
    *alive(id) {
      return isAlive(id);
    },
    *enlist(owner, leaseMs) {
      all.set(owner.id, { ...owner, leaseUntil: now() + leaseMs });
    },
    *renew(id, leaseMs) {
      if (!isAlive(id)) return false;
      all.set(id, { ...all.get(id)!, leaseUntil: now() + leaseMs });
      return true;
    },
    *retire(id) {
      const owner = all.get(id);
      if (owner !== undefined)
        all.set(id, { ...owner, leaseUntil: Math.min(now(), owner.leaseUntil) });
    },
    *prune(lapsedBefore) {
      for (const { id, leaseUntil } of all.values()) {
        if (leaseUntil < lapsedBefore && !ownsSome(id)) all.delete(id);
      }
    },
  };
}
