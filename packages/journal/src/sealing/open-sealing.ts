import { JournalError } from '../error.js';
import type { JournalStore } from '../store/store.js';
import { createKey, keyPath, readKey } from './key-file.js';
import { ephemeralEncryption, createEncryption, type Encryption } from './sealing.js';

/** Under which the journal remembers its key's name. */
const META = 'sealing_key_id';

/**
 * The sealing that belongs to this journal, with the key file in the data directory. A new journal
 * gets a new key; one that knows its key accepts no other, so that nothing is sealed twice over.
 */
export async function openEncryption(
  store: Pick<JournalStore, 'kind' | 'meta' | 'initMeta'>,
  dataDir: string,
): Promise<Encryption> {
  if (store.kind === 'memory') return ephemeralEncryption();
  const known = await store.meta(META);
  const secret = readKey(dataDir) ?? (known === undefined ? createKey(dataDir) : undefined);
  if (secret === undefined) throw missing(keyPath(dataDir), known!);
  const opened = createEncryption(secret);
  const kept = known ?? (await store.initMeta(META, opened.keyId));
  if (kept !== opened.keyId) throw wrong(keyPath(dataDir), opened.keyId, kept);
  return opened;
}

function missing(path: string, keyId: string): JournalError {
  return new JournalError(
    'key',
    `The journal's key file ${path} is missing, and this journal is sealed with the key ${keyId}. ` +
      ADVICE,
  );
}

function wrong(path: string, found: string, keyId: string): JournalError {
  return new JournalError(
    'key',
    `The journal's key file ${path} holds the key ${found}, and this journal is sealed with the key ` +
      `${keyId}. ${ADVICE}`,
  );
}

const ADVICE =
  'Copy the file from a backup, or from another machine of this installation, with mode 600; or name ' +
  'another journal.url.';
