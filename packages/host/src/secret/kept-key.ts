import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from '../errors.js';
import { readSecretFile } from './read-file.js';

const KEY_BYTES = 32;

/**
 * A key that an installation makes once and keeps in its data directory, so that what was signed with
 * it holds after a restart and for every process that shares the directory.
 */
export function keptKey(dir: string, name: string): Buffer {
  const path = join(dir, name);
  if (!existsSync(path)) make(path, dir);
  const read = readSecretFile(path);
  const key = Buffer.from(read.ok ? read.value : '', 'base64url');
  if (key.length >= KEY_BYTES) return key;
  throw new HostError(read.ok ? `${path} holds no key: remove it, and one is made` : read.reason);
}

/** Whole or not at all: of processes that start together one makes the key, and all of them read it. */
function make(path: string, dir: string): void {
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
