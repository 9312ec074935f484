import type { JournalStore } from '@toolkeel/journal';
import type { Hooks } from './tools.js';

/** Where a server can be told to die, in the order in which a call passes them. */
export const deathPoints = Object.freeze([
  'after-claim',
  'before-sending',
  'after-sending',
  'after-bytes-left',
  'after-commit',
  'after-response',
  'before-result-stored',
] as const);

export type DeathPoint = (typeof deathPoints)[number];

/** Points that lie inside of the server: it kills itself there. The others are seen by the upstream. */
type OwnPoint = Exclude<DeathPoint, 'after-bytes-left' | 'after-commit'>;

/** Up to here nothing can have left, and everybody can know that. */
export function isBeforeSending(point: DeathPoint): boolean {
  return point === 'after-claim' || point === 'before-sending';
}

/**
 * Lets this process die, or stop, at a point of a mutation. Dead means SIGKILL: nothing is flushed,
 * closed or told. Stopped means that it goes on as if nothing had been, however late.
 */
export function mortal(
  store: JournalStore,
  ending: Ending | undefined,
): { readonly store: JournalStore; readonly hooks: Hooks } {
  let passed = 0;
  const at = (here: OwnPoint): void => {
    if (here !== ending?.point) return;
    passed += 1;
    if (passed !== ending.nth) return;
    process.kill(process.pid, ending.signal);
    // The signal is on its way, and nothing may happen until it arrives.
    while (ending.signal === 'SIGKILL');
  };
  return {
    hooks: {
      beforeSending: () => at('before-sending'),
      afterResponse: () => at('after-response'),
    },
    store: {
      ...store,
      claim: async (request) => {
        const result = await store.claim(request);
        if (result.kind === 'mine') at('after-claim');
        return result;
      },
      send: async (fencingToken, request) => {
        const result = await store.send(fencingToken, request);
        if (result.kind === 'sent') at('after-sending');
        return result;
      },
      settle: (fencingToken, settlement) => {
        at('before-result-stored');
        return store.settle(fencingToken, settlement);
      },
    },
  };
}

/** Where, when and how a server ends itself. */
export interface Ending {
  readonly point: OwnPoint;
  /** At which passing of the point: an operation of several parts passes it several times. */
  readonly nth: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

/** What a server of a drill is told, as JSON in its first argument. */
export interface ServerSettings {
  readonly upstream: string;
  /** `off`: the positive control, which must show duplicates. */
  readonly journal: string;
  readonly dataDir: string;
  readonly leaseMs: number;
  readonly callTimeoutMs: number;
  readonly ending?: Ending;
}
