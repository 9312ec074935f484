import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { JournalError } from '../error.js';
import type { JournalStore } from '../store/store.js';
import { createKey, keyPath, readKey } from './key-file.js';

/** What the journal keeps from whoever reads its database. */
export interface Encryption {
  /** Says which key it is, and nothing about it. */
  readonly keyId: string;
  /** `about` is bound to it: sealed text that is moved to another operation cannot be opened. */
  readonly encrypt: (text: string, about: string) => string;
  readonly decrypt: (sealed: string, about: string) => string;
  /** A fingerprint that nobody can guess at without the key: 64 hexadecimal digits. */
  readonly keyedHash: (text: string) => string;
  /** 32 bytes for another purpose, such as signing page tokens. */
  readonly derive: (purpose: string) => Uint8Array;
}

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'sealed1';

/** From 32 secret bytes; each use has a key of its own, derived from them. */
export function createEncryption(secret: Uint8Array): Encryption {
  if (secret.byteLength !== 32) throw new RangeError('a key has 32 bytes');
  const derive = (purpose: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', secret, '', `toolkeel/${purpose}`, 32));
  const encryptionKey = derive('seal');
  const hashKey = derive('fingerprint');
  const keyId = Buffer.from(derive('key-id')).toString('hex').slice(0, 16);

  return {
    keyId,
    derive,
    keyedHash: (text) => createHmac('sha256', hashKey).update(text, 'utf8').digest('hex'),
    encrypt: (text, about) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, encryptionKey, iv).setAAD(Buffer.from(about));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const parts = Buffer.concat([iv, cipher.getAuthTag(), body]);
      return `${VERSION}.${keyId}.${parts.toString('base64url')}`;
    },
    decrypt: (sealed, about) => {
      const parts = bytesOf(sealed, keyId);
      const iv = parts.subarray(0, IV_BYTES);
      const tag = parts.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv(ALGORITHM, encryptionKey, iv, {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(about)).setAuthTag(tag);
        const body = decipher.update(parts.subarray(IV_BYTES + TAG_BYTES));
        return Buffer.concat([body, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw damaged(cause);
      }
    },
  };
}

/** A key that is forgotten when the process ends, for a journal that is forgotten too. */
export function ephemeralEncryption(): Encryption {
  return createEncryption(randomBytes(32));
}

export function isEncrypted(text: string): boolean {
  return text.startsWith(`${VERSION}.`);
}

function bytesOf(sealed: string, keyId: string): Buffer {
  const [version, usedKey, body] = sealed.split('.');
  if (version !== VERSION || body === undefined) throw damaged();
  if (usedKey !== keyId) {
    throw new JournalError(
      'key',
      `This was sealed with the key ${usedKey}, and the key file holds ${keyId}. ` +
        'Bring back the key file that belongs to this journal.',
    );
  }
  return Buffer.from(body, 'base64url');
}

function damaged(cause?: unknown): JournalError {
  return new JournalError(
    'corrupt',
    'Sealed arguments were altered, or belong to another operation, and cannot be opened.',
    { cause },
  );
}

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
