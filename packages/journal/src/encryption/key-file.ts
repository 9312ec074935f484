import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { JournalError } from '../error.js';

const NAME = 'journal.key';
const HEADER = 'toolkeel-key-1';

export function keyPath(dataDir: string): string {
  return join(dataDir, NAME);
}

/** The secret; undefined if the file does not exist. */
export function readKey(dataDir: string): Uint8Array | undefined {
  const path = keyPath(dataDir);
  try {
    const { mode } = statSync(path);
    // Windows has no file modes.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) throw tooOpen(path, mode);
    return parse(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if (error instanceof JournalError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new JournalError(
      'key',
      `The journal's key file ${path} cannot be read (${codeOf(error)}). Make it readable for this user.`,
      { cause: error },
    );
  }
}

/**
 * Creates the file. Concurrent processes all get the key of the first one: the file is linked to its
 * final name only after it is complete and synced.
 */
export function createKey(dataDir: string): Uint8Array {
  const path = keyPath(dataDir);
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeSync(file, `${HEADER} ${randomBytes(32).toString('base64url')}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    try {
      linkSync(draft, path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      unlinkSync(draft);
    }
  } catch (error) {
    throw new JournalError(
      'key',
      `The journal's key file ${path} cannot be created (${codeOf(error)}). Make that directory ` +
        'writable for this user, or set TOOLKEEL_DATA_DIR to another one.',
      { cause: error },
    );
  }
  return readKey(dataDir)!;
}

function parse(text: string, path: string): Uint8Array {
  const [header, body = ''] = text.trim().split(' ');
  const secret = Buffer.from(body, 'base64url');
  if (header === HEADER && secret.byteLength === 32) return secret;
  throw new JournalError(
    'key',
    `The journal's key file ${path} does not contain a key. Restore the file that belongs to this ` +
      'journal; delete it only if the journal contains nothing encrypted.',
  );
}

function tooOpen(path: string, mode: number): JournalError {
  return new JournalError(
    'key',
    `The journal's key file ${path} can be read by others (mode ${(mode & 0o777).toString(8)}). ` +
      `Run: chmod 600 ${path}`,
  );
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
