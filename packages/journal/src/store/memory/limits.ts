import { answer } from '../script.js';
import type { Hit, LimitsTable } from '../tables.js';

export function memoryLimits(now: () => number): LimitsTable {
  /** Oldest first. */
  const counted = new Map<string, readonly Hit[]>();
  const live = (hits: readonly Hit[] = []): readonly Hit[] => {
    const time = now();
    return hits.filter(({ expiresAt }) => expiresAt > time);
  };
  const keep = (name: string, hits: readonly Hit[]): void => {
    if (hits.length === 0) counted.delete(name);
    else counted.set(name, hits);
  };

  return {
    lock: () => answer(now()),
    newest(name, n) {
      const hits = counted.get(name);
      return answer({ last: hits?.at(-1)?.at, nth: hits?.at(-n)?.at });
    },
    pullBack(name, to) {
      const hits = counted.get(name) ?? [];
      keep(
        name,
        hits.map((hit) =>
          hit.at > to ? { ...hit, at: to, expiresAt: hit.expiresAt - hit.at + to } : hit,
        ),
      );
      return answer(undefined);
    },
    add(hits) {
      for (const hit of hits) keep(hit.name, [...live(counted.get(hit.name)), hit]);
      return answer(undefined);
    },
    remove(operation, send) {
      for (const [name, hits] of counted) {
        keep(
          name,
          hits.filter((hit) => hit.operation !== operation || hit.send !== send),
        );
      }
      return answer(undefined);
    },
    prune() {
      for (const [name, hits] of counted) keep(name, live(hits));
      return answer(undefined);
    },
  };
}
