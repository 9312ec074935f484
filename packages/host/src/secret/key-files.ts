import { randomBytes, randomUUID } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createPageTokens, type PageTokens } from '@toolkeel/contract';
import { privateFileProblem } from '@toolkeel/pack-kit/base';
import { HostError } from '../errors.js';
import type { HostLog } from '../log/log.js';
import type { Secret, Secrets } from './secrets.js';

const KEY_BYTES = 32;
const PAGE_TOKEN_KEY = 'page-tokens.key';
const CONSOLE_TOKEN = 'console.token';

/** The content of a file with a secret, or why it was not read. */
export type SecretFile =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly reason: string };

/** Reads a secret from a file. Rejects a file that other users can read. */
export function readSecretFile(path: string): SecretFile {
  const stat = statSync(path, { throwIfNoEntry: false });
  const reason = stat ? privateFileProblem(path, stat) : `there is no file ${path}`;
  if (reason !== undefined) return { ok: false, reason };
  const value = readFileSync(path, 'utf8').trim();
  return value === '' ? { ok: false, reason: `${path} is empty` } : { ok: true, value };
}

/**
 * Reads a key from the data directory, and creates it on first use. What is signed with it stays valid
 * after a restart, and for every process that shares the directory.
 */
export function persistentKey(dir: string, name: string): Buffer {
  const path = join(dir, name);
  if (!existsSync(path)) createKey(path, dir);
  const read = readSecretFile(path);
  const key = Buffer.from(read.ok ? read.value : '', 'base64url');
  if (key.length >= KEY_BYTES) return key;
  throw new HostError(
    read.ok ? `${path} does not contain a key. Remove it to create a new key.` : read.reason,
  );
}

/** Atomic: of several processes that start at the same time, one creates the key and all read it. */
function createKey(path: string, dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${randomBytes(KEY_BYTES).toString('base64url')}\n`, { mode: 0o600 });
    linkSync(draft, path);
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Page tokens that stay valid after a restart. The key is created when the first token is needed; if it
 * cannot be stored, tokens are valid until the process exits.
 */
export function persistentPageTokens(dataDir: string, log: HostLog): PageTokens {
  let cached: PageTokens | undefined;
  const create = (): PageTokens => {
    try {
      return createPageTokens({ keys: [persistentKey(dataDir, PAGE_TOKEN_KEY)] });
    } catch (cause) {
      log('warn', 'page_tokens_not_kept', { dir: dataDir, cause });
      return createPageTokens({ keys: [randomBytes(KEY_BYTES)] });
    }
  };
  const tokens = (): PageTokens => (cached ??= create());
  return {
    encode: (binding, cursor) => tokens().encode(binding, cursor),
    decode: (binding, token) => tokens().decode(binding, token),
  };
}

export const consoleTokenFile = (dataDir: string): string => join(dataDir, CONSOLE_TOKEN);

/** The operator's token for the console and the operator API, in a file with mode 600. */
export function persistentConsoleToken(dataDir: string, secrets: Secrets): Secret {
  return secrets.add(CONSOLE_TOKEN, persistentKey(dataDir, CONSOLE_TOKEN).toString('base64url'));
}

/** A token that is valid until the process exits. It may be displayed: it only grants access to a sandbox. */
export function ephemeralConsoleToken(): { readonly reveal: () => string } {
  const token = randomBytes(KEY_BYTES).toString('base64url');
  return { reveal: () => token };
}
