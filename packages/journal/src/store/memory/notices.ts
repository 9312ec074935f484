import { answer, type Script } from '../script.js';
import type { Notification } from '../store.js';
import type { NoticesTable } from '../tables.js';

export function memoryNotices(
  now: () => number,
  exists: (operationId: string) => boolean,
): NoticesTable {
  const all = new Map<string, Notification & { readonly dueAt: number }>();
  const change = (id: string, changes: Partial<Notification & { dueAt: number }>): Script<void> => {
    const notice = all.get(id);
    if (notice !== undefined) all.set(id, { ...notice, ...changes });
    return answer(undefined);
  };
  const idOf = (kind: Notification['kind'], operationId: string): string =>
    `${kind}:${operationId}`;
  const remove = (id: string): Script<void> => {
    all.delete(id);
    return answer(undefined);
  };

  return {
    add(kind, operationId) {
      const id = idOf(kind, operationId);
      if (!all.has(id)) all.set(id, { id, kind, operationId, at: now(), tries: 0, dueAt: now() });
      return answer(undefined);
    },
    due(limit) {
      const due = [...all.values()].filter(({ dueAt }) => dueAt <= now());
      const first = due.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, limit);
      return answer(first.map(({ dueAt: _, ...notice }) => notice));
    },
    defer: (id, dueAt, tries) => change(id, tries === undefined ? { dueAt } : { dueAt, tries }),
    told: (id) => change(id, { dueAt: Infinity }),
    remove,
    withdraw: (kind, operationId) => remove(idOf(kind, operationId)),
    prune() {
      for (const { id, operationId } of all.values()) if (!exists(operationId)) all.delete(id);
      return answer(undefined);
    },
  };
}
