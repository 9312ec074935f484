import { resolve } from 'node:path';
import type { Encryption, JournalOptions, JournalStore } from '@toolkeel/journal';
import type { LoadedConfig } from '../config/load.js';

const DEFAULT_URL = 'sqlite:journal.db';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type StoreInput = Pick<LoadedConfig, 'dataDir' | 'journalUrl'>;

/** The URL of the journal. It may contain a password. */
export function journalAddress({ journalUrl }: StoreInput): string {
  return journalUrl?.reveal() ?? DEFAULT_URL;
}

/** Whether the journal outlives the process. */
export function isPersistent(input: StoreInput): boolean {
  return !/^memory:/i.test(journalAddress(input));
}

/** The path of the journal if it is a file. */
export function journalFile(input: StoreInput): string | undefined {
  const [, path] = /^sqlite:(?:\/\/)?(.+)$/is.exec(journalAddress(input)) ?? [];
  return path === undefined ? undefined : resolve(input.dataDir, path);
}

interface OpenedStore {
  readonly store: JournalStore;
  readonly encryption: Encryption;
  /** For `createJournal`: the same options for a server and for the command line. */
  readonly journaling: Pick<
    JournalOptions,
    'store' | 'encryption' | 'retentionMs' | 'undeliveredHoldMs' | 'maxPendingApprovals'
  >;
}

/** Opens the configured store and its encryption. Throws a JournalError that says what to do. */
export async function openJournalStore(
  input: StoreInput & Pick<LoadedConfig, 'config' | 'secrets'>,
): Promise<OpenedStore> {
  const { openEncryption, openStore } = await import('@toolkeel/journal');
  const { dataDir, config, secrets } = input;
  const { retentionDays, undeliveredHoldHours: holdHours, maxPendingApprovals } = config.journal;
  const store = await openStore(journalAddress(input), { dataDir });
  try {
    const encryption = await openEncryption(store, dataDir);
    const journaling = {
      store: scrubbedStore(store, secrets.scrub),
      encryption,
      ...(retentionDays !== undefined && { retentionMs: retentionDays * DAY_MS }),
      ...(holdHours !== undefined && { undeliveredHoldMs: holdHours * HOUR_MS }),
      ...(maxPendingApprovals !== undefined && { maxPendingApprovals }),
    };
    return { store, encryption, journaling };
  } catch (cause) {
    await store.close();
    throw cause;
  }
}

/** Redacts secrets before they are stored: an upstream may repeat a credential in its response. */
export function scrubbedStore(store: JournalStore, scrub: (text: string) => string): JournalStore {
  const redact = <T extends { readonly answer?: string; readonly reason?: string }>(
    given: T,
  ): T => ({
    ...given,
    ...(given.answer !== undefined && { answer: scrub(given.answer) }),
    ...(given.reason !== undefined && { reason: scrub(given.reason) }),
  });
  const redactJson = <T>(value: T): T => JSON.parse(scrub(JSON.stringify(value))) as T;
  return {
    ...store,
    claim: (request) => {
      const { args } = request;
      // Encrypted arguments are not JSON and must not be changed.
      return store.claim({ ...request, args: args.startsWith('{') ? scrub(args) : args });
    },
    completeStep: (fencingToken, step, result) =>
      store.completeStep(fencingToken, step, scrub(result)),
    settle: (fencingToken, settlement) => store.settle(fencingToken, redact(settlement)),
    reconcile: (id, result) => store.reconcile(id, redact(result)),
    decideApproval: (id, decision) => store.decideApproval(id, redact(decision)),
    audit: ({ detail, ...entry }) =>
      store.audit(detail ? { ...entry, detail: redactJson(detail) } : entry),
    awaitApproval: (fencingToken, request) => store.awaitApproval(fencingToken, redact(request)),
  };
}
