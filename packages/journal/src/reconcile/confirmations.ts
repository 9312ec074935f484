import type { Absence } from '@toolkeel/contract';
import type { Clock } from '@toolkeel/kernel';
import type { Operation } from '../operation.js';

/** Looks that did not find an operation, for upstreams that show what they did late. */
export interface Confirmations {
  /**
   * What proves that it was not executed: nothing more where one look is enough, both looks where two are
   * needed. Undefined: not yet.
   */
  readonly confirm: (
    operation: Operation,
    absence: Absence,
    evidence: unknown,
  ) => readonly unknown[] | undefined;
}

interface Look {
  readonly at: number;
  readonly evidence: unknown;
}

/** Kept in memory: a process that starts anew begins to look anew. */
const MOST = 10_000;

export function confirmations(clock: Pick<Clock, 'now' | 'wallNow'>): Confirmations {
  const firstLooks = new Map<string, Look>();
  return {
    confirm: ({ id, fence }, { confirmAfterMs }, evidence) => {
      if (confirmAfterMs === undefined) return evidence === undefined ? [] : [evidence];
      if (evidence === undefined) return undefined;
      const key = `${id} ${fence}`;
      const seen = { at: new Date(clock.wallNow()).toISOString(), evidence };
      const first = firstLooks.get(key);
      if (first === undefined) {
        if (firstLooks.size < MOST) firstLooks.set(key, { at: clock.now(), evidence: seen });
        return undefined;
      }
      if (clock.now() - first.at < confirmAfterMs) return undefined;
      firstLooks.delete(key);
      return [first.evidence, seen];
    },
  };
}
