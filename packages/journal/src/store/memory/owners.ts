import type { Owner } from '../../operation.js';
import { answer } from '../script.js';
import type { OwnersTable } from '../tables.js';

export interface MemoryOwners extends OwnersTable {
  readonly isAlive: (id: string) => boolean;
}

export function memoryOwners(now: () => number, ownsSome: (id: string) => boolean): MemoryOwners {
  const all = new Map<string, Owner & { readonly leaseUntil: number }>();
  const isAlive = (id: string): boolean => (all.get(id)?.leaseUntil ?? 0) > now();

  return {
    isAlive,
    get: (id) => answer(all.get(id)),
    alive: (id) => answer(isAlive(id)),
    anyWith: (tool) =>
      answer([...all.values()].some(({ id, tools }) => tools.includes(tool) && isAlive(id))),
    registerOwner(owner, leaseMs) {
      all.set(owner.id, { ...owner, leaseUntil: now() + leaseMs });
      return answer(undefined);
    },
    renew(id, leaseMs) {
      if (!isAlive(id)) return answer(false);
      all.set(id, { ...all.get(id)!, leaseUntil: now() + leaseMs });
      return answer(true);
    },
    deregisterOwner(id) {
      const owner = all.get(id);
      if (owner !== undefined)
        all.set(id, { ...owner, leaseUntil: Math.min(now(), owner.leaseUntil) });
      return answer(undefined);
    },
    prune(lapsedBefore) {
      for (const { id, leaseUntil } of all.values()) {
        if (leaseUntil < lapsedBefore && !ownsSome(id)) all.delete(id);
      }
      return answer(undefined);
    },
  };
}
