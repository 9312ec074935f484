import type { JournalStore } from '@toolkeel/journal';
import type { Hooks } from './tools.js';

/** The points at which a server can be killed, in the order of a call. */
export const killPoints = Object.freeze([
  'after-claim',
  'before-sending',
  'after-sending',
  'after-bytes-left',
  'after-commit',
  'after-response',
  'before-result-stored',
] as const);

export type KillPoint = (typeof killPoints)[number];

/** Points inside the server, at which it stops itself. The upstream holds the call at the others. */
type ServerPoint = Exclude<KillPoint, 'after-bytes-left' | 'after-commit'>;

/**
 * Stops this process at a point of a mutation. SIGKILL ends it without flushing or closing anything;
 * after SIGSTOP it can continue at any later time.
 */
export function stopAtPoint(
  store: JournalStore,
  stop: StopInstruction | undefined,
): { readonly store: JournalStore; readonly hooks: Hooks } {
  let occurrences = 0;
  const at = (here: ServerPoint): void => {
    if (here !== stop?.point) return;
    occurrences += 1;
    if (occurrences !== stop.nth) return;
    process.kill(process.pid, stop.signal);
    // Blocks until the signal is delivered.
    while (stop.signal === 'SIGKILL');
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

/** Where and how a server stops itself. */
export interface StopInstruction {
  readonly point: ServerPoint;
  /** The occurrence of the point: an operation of several parts passes it several times. */
  readonly nth: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

/** The settings of a server of the drill, as JSON in its first argument. */
export interface ServerSettings {
  readonly upstream: string;
  /** `off` for the control, which must show duplicates. */
  readonly journal: string;
  readonly dataDir: string;
  readonly leaseMs: number;
  readonly callTimeoutMs: number;
  readonly stop?: StopInstruction;
}
