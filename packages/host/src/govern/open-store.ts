import { resolve } from 'node:path';
import type { JournalStore, Sealing } from '@toolkeel/journal';
import type { LoadedConfig } from '../config/load.js';

const DEFAULT_URL = 'sqlite:journal.db';

export type StoreInput = Pick<LoadedConfig, 'dataDir' | 'journalUrl'>;

/** Where the journal is kept, whoever may see it: it may hold a password. */
export function journalAddress({ journalUrl }: StoreInput): string {
  return journalUrl?.reveal() ?? DEFAULT_URL;
}

/** Whether a journal outlives the process that writes it. */
export function isKept(input: StoreInput): boolean {
  return !/^memory:/i.test(journalAddress(input));
}

/** The file that holds it, where it is one. */
export function journalFile(input: StoreInput): string | undefined {
  const [, path] = /^sqlite:(?:\/\/)?(.+)$/is.exec(journalAddress(input)) ?? [];
  return path === undefined ? undefined : resolve(input.dataDir, path);
}

/** The store and what seals it, as the configuration says. Throws a JournalError that says what to do. */
export async function openJournalStore(
  input: StoreInput,
): Promise<{ readonly store: JournalStore; readonly sealing: Sealing }> {
  const { openSealing, openStore } = await import('@toolkeel/journal');
  const { dataDir } = input;
  const store = await openStore(journalAddress(input), { dataDir });
  try {
    return { store, sealing: await openSealing(store, dataDir) };
  } catch (cause) {
    await store.close();
    throw cause;
  }
}
