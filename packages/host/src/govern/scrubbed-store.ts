import type { JournalStore } from '@toolkeel/journal';

/** An upstream may say aloud what it was given: what is kept is cleaned like all that leaves. */
export function scrubbedStore(store: JournalStore, scrub: (text: string) => string): JournalStore {
  const clean = <T extends { readonly answer?: string; readonly reason?: string }>(
    given: T,
  ): T => ({
    ...given,
    ...(given.answer !== undefined && { answer: scrub(given.answer) }),
    ...(given.reason !== undefined && { reason: scrub(given.reason) }),
  });
  const cleanJson = <T>(value: T): T => JSON.parse(scrub(JSON.stringify(value))) as T;
  return {
    ...store,
    claim: (request) => {
      const { args } = request;
      // What is sealed is no JSON, and must stay as it is.
      return store.claim({ ...request, args: args.startsWith('{') ? scrub(args) : args });
    },
    completeStep: (fencingToken, step, result) =>
      store.completeStep(fencingToken, step, scrub(result)),
    settle: (fencingToken, settlement) => store.settle(fencingToken, clean(settlement)),
    reconcile: (id, verdict) => store.reconcile(id, clean(verdict)),
    decideApproval: (id, decision) => store.decideApproval(id, clean(decision)),
    audit: ({ detail, ...entry }) =>
      store.audit(detail ? { ...entry, detail: cleanJson(detail) } : entry),
    awaitApproval: (fencingToken, request) => store.awaitApproval(fencingToken, clean(request)),
  };
}
