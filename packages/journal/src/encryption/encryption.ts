import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { JournalError } from '../error.js';
import type { JournalStore } from '../store/store.js';
import { createKey, keyPath, readKey } from './key-file.js';

/** Encrypts values of the journal at rest (AES-256-GCM). */
export interface Encryption {
  /** Identifies the key without revealing it. */
  readonly keyId: string;
  /** `context` is authenticated: a value copied to another operation cannot be decrypted. */
  readonly encrypt: (plaintext: string, context: string) => string;
  readonly decrypt: (encrypted: string, context: string) => string;
  /** HMAC-SHA-256 as 64 hexadecimal digits; without the key it does not reveal guessable input. */
  readonly keyedHash: (text: string) => string;
  /** 32 bytes for another purpose, such as signing page tokens. */
  readonly derive: (purpose: string) => Uint8Array;
}

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'sealed1';

/** Derives a separate key for each purpose from 32 secret bytes. */
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
    encrypt: (plaintext, context) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, encryptionKey, iv).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      const parts = Buffer.concat([iv, cipher.getAuthTag(), body]);
      return `${VERSION}.${keyId}.${parts.toString('base64url')}`;
    },
    decrypt: (encrypted, context) => {
      const parts = payloadOf(encrypted, keyId);
      const iv = parts.subarray(0, IV_BYTES);
      const tag = parts.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv(ALGORITHM, encryptionKey, iv, {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
        const body = decipher.update(parts.subarray(IV_BYTES + TAG_BYTES));
        return Buffer.concat([body, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw alteredError(cause);
      }
    },
  };
}

/** Encryption with a random key that is never stored, for a journal in memory. */
export function ephemeralEncryption(): Encryption {
  return createEncryption(randomBytes(32));
}

export function isEncrypted(text: string): boolean {
  return text.startsWith(`${VERSION}.`);
}

function payloadOf(encrypted: string, keyId: string): Buffer {
  const [version, usedKey, body] = encrypted.split('.');
  if (version !== VERSION || body === undefined) throw alteredError();
  if (usedKey !== keyId) {
    throw new JournalError(
      'key',
      `A value is encrypted with the key ${usedKey}, and the key file contains ${keyId}. ` +
        'Restore the key file that belongs to this journal.',
    );
  }
  return Buffer.from(body, 'base64url');
}

function alteredError(cause?: unknown): JournalError {
  return new JournalError(
    'corrupt',
    'Encrypted arguments cannot be decrypted: they were altered or belong to another operation. Restore a backup.',
    { cause },
  );
}

/** The property of the journal that stores the id of its key. */
const META = 'sealing_key_id';

/**
 * Opens the encryption of a journal with the key file in the data directory. Creates a key for a new
 * journal; rejects any other key than the one whose id the journal has stored.
 */
export async function openEncryption(
  store: Pick<JournalStore, 'kind' | 'meta' | 'initMeta'>,
  dataDir: string,
): Promise<Encryption> {
  if (store.kind === 'memory') return ephemeralEncryption();
  const known = await store.meta(META);
  const secret = readKey(dataDir) ?? (known === undefined ? createKey(dataDir) : undefined);
  if (secret === undefined) throw missingKey(keyPath(dataDir), known!);
  const opened = createEncryption(secret);
  const kept = known ?? (await store.initMeta(META, opened.keyId));
  if (kept !== opened.keyId) throw wrongKey(keyPath(dataDir), opened.keyId, kept);
  return opened;
}

function missingKey(path: string, keyId: string): JournalError {
  return new JournalError(
    'key',
    `The journal's key file ${path} is missing. The journal is encrypted with the key ${keyId}. ` +
      RESTORE_KEY,
  );
}

function wrongKey(path: string, found: string, keyId: string): JournalError {
  return new JournalError(
    'key',
    `The journal's key file ${path} contains the key ${found}. The journal is encrypted with the key ` +
      `${keyId}. ${RESTORE_KEY}`,
  );
}

const RESTORE_KEY =
  'Copy the file from a backup, or from another machine of this installation, with mode 600; or set ' +
  'another journal.url.';
