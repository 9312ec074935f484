import { resolve } from 'node:path';
import type { JournalOptions, JournalStore, Encryption } from '@toolkeel/journal';
import type { LoadedConfig } from '../config/load.js';
import { scrubbedStore } from './scrubbed-store.js';

const DEFAULT_URL = 'sqlite:journal.db';

export type StoreInput = Pick<LoadedConfig, 'dataDir' | 'journalUrl'>;

/** Where the journal is kept, whoever may see it: it may hold a password. */
export function journalAddress({ journalUrl }: StoreInput): string {
  return journalUrl?.reveal() ?? DEFAULT_URL;
}

/** Whether a journal outlives the process that writes it. */
export function isPersistent(input: StoreInput): boolean {
  return !/^memory:/i.test(journalAddress(input));
}

/** The file that holds it, where it is one. */
export function journalFile(input: StoreInput): string | undefined {
  const [, path] = /^sqlite:(?:\/\/)?(.+)$/is.exec(journalAddress(input)) ?? [];
  return path === undefined ? undefined : resolve(input.dataDir, path);
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface OpenedStore {
  readonly store: JournalStore;
  readonly encryption: Encryption;
  /** For `createJournal`: the same for a server and for a person at a command line. */
  readonly journaling: Pick<
    JournalOptions,
    'store' | 'encryption' | 'retentionMs' | 'undeliveredHoldMs' | 'maxPendingApprovals'
  >;
}

/** The store and what seals it, as the configuration says. Throws a JournalError that says what to do. */
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
