import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { keptKey } from './kept-key.js';
import type { Secret } from './secret.js';
import type { Secrets } from './secrets.js';

const FILE = 'console.token';

export const consoleTokenFile = (dataDir: string): string => join(dataDir, FILE);

/** What people show to see and decide. It is in a file that only this user can read. */
export function persistentConsoleToken(dataDir: string, secrets: Secrets): Secret {
  return secrets.add(FILE, keptKey(dataDir, FILE).toString('base64url'));
}

/** One that lasts as long as this process, and may be shown: it opens nothing real. */
export function ephemeralConsoleToken(): { readonly reveal: () => string } {
  const token = randomBytes(32).toString('base64url');
  return { reveal: () => token };
}
