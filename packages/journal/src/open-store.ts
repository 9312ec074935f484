import { isAbsolute, resolve } from 'node:path';
import { JournalError } from './error.js';
import { memoryStore } from './store/memory/store.js';
import type { JournalStore } from './store/store.js';

export interface OpenStoreOptions {
  /** Where a relative path begins. */
  readonly dataDir: string;
  /** How many calls are kept. */
  readonly calls?: number;
}

/** `sqlite:PATH`, `postgres://…` or `memory:`. Each kind is loaded only where it is used. */
export async function openStore(url: string, options: OpenStoreOptions): Promise<JournalStore> {
  const { dataDir, ...rest } = options;
  const [, scheme = '', path = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? [];
  switch (scheme.toLowerCase()) {
    case 'memory':
      if (path !== '') throw wrong('nothing stands behind memory:');
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
      throw wrong('it names no kind of store');
    default:
      throw wrong(`there is no store of the kind "${scheme.slice(0, 20)}"`);
  }
}

/** `sqlite:journal.db`, `sqlite:/var/lib/journal.db`, and the spelling with slashes of other programs. */
function sqlitePath(path: string, dataDir: string): string {
  const bare = path.startsWith('//') ? path.slice(2) : path;
  if (bare === '') throw wrong('it names no file');
  if (bare === ':memory:') throw wrong('a database that is in memory only is written memory:');
  if (bare.includes('\0') || bare.includes('?')) throw wrong('a file name takes no options');
  return isAbsolute(bare) ? bare : resolve(dataDir, bare);
}

/** Never with the address itself: it may hold a password. */
function wrong(why: string): JournalError {
  return new JournalError(
    'invalid',
    `journal.url cannot be used: ${why}. Write sqlite:PATH (a relative one begins in the data ` +
      'directory), postgres://user:password@host:5432/database, or memory:',
  );
}
