import { isAbsolute, resolve } from 'node:path';
import { JournalError } from './error.js';
import { memoryStore } from './store/memory/store.js';
import type { JournalStore } from './store/store.js';

export interface OpenStoreOptions {
  /** Base directory of relative paths. */
  readonly dataDir: string;
  /** Maximum number of rows in the table of calls. */
  readonly calls?: number;
}

/** Opens `sqlite:PATH`, `postgres://…` or `memory:`. Only the driver in use is loaded. */
export async function openStore(url: string, options: OpenStoreOptions): Promise<JournalStore> {
  const { dataDir, ...rest } = options;
  const [, scheme = '', path = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? [];
  switch (scheme.toLowerCase()) {
    case 'memory':
      if (path !== '') throw invalidUrl('memory: takes no path');
      return memoryStore(rest);
    case 'sqlite': {
      const { sqliteStore } = await import('./store/sqlite/store.js');
      return sqliteStore({ ...rest, path: sqlitePath(path, dataDir) });
    }
    case 'postgres':
    case 'postgresql': {
      const { postgresStore } = await import('./store/postgres/store.js');
      return postgresStore({ ...rest, url });
    }
    case '':
      throw invalidUrl('it names no kind of store');
    default:
      throw invalidUrl(`unknown kind of store "${scheme.slice(0, 20)}"`);
  }
}

/** Accepts `sqlite:journal.db`, `sqlite:/var/lib/journal.db` and the common `sqlite:///…`. */
function sqlitePath(path: string, dataDir: string): string {
  const bare = path.startsWith('//') ? path.slice(2) : path;
  if (bare === '') throw invalidUrl('it names no file');
  if (bare === ':memory:') throw invalidUrl('use memory: for an in-memory journal');
  if (bare.includes('\0') || bare.includes('?')) throw invalidUrl('a file name takes no options');
  return isAbsolute(bare) ? bare : resolve(dataDir, bare);
}

/** Does not quote the URL: it may hold a password. */
function invalidUrl(why: string): JournalError {
  return new JournalError(
    'invalid',
    `journal.url is invalid: ${why}. Use sqlite:PATH (relative paths start in the data ` +
      'directory), postgres://user:password@host:5432/database, or memory:',
  );
}
