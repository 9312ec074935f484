import type { JournalStore } from '@toolkeel/journal';

/** An upstream may say aloud what it was given: what is kept is cleaned like all that leaves. */
export function scrubbedStore(store: JournalStore, scrub: (text: string) => string): JournalStore {
  const clean = <T extends { readonly answer: string }>(given: T): T => ({
    ...given,
    answer: scrub(given.answer),
  });
  return {
    ...store,
    claim: (request) => {
      const { args } = request;
      // What is sealed is no JSON, and must stay as it is.
      return store.claim({ ...request, args: args.startsWith('{') ? scrub(args) : args });
    },
    completeStep: (grip, step, result) => store.completeStep(grip, step, scrub(result)),
    settle: (grip, settlement) => store.settle(grip, clean(settlement)),
    reconcile: (id, verdict) => store.reconcile(id, clean(verdict)),
    awaitApproval: (grip, request) => store.awaitApproval(grip, clean(request)),
  };
}
