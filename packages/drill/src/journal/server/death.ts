import type { JournalStore } from '@toolkeel/journal';
import type { Ending } from './settings.js';
import type { OwnPoint } from './points.js';
import type { Hooks } from './tools.js';

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
