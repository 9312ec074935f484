import { JournalError } from '../../error.js';
import type { OpenDriver } from './driver.js';
import { libsqlDriver } from './libsql-driver.js';
import { nodeDriver } from './node-driver.js';

/** Node's own, else the optional package. */
export async function chooseDriver(
  kinds: readonly (() => OpenDriver | undefined | Promise<OpenDriver | undefined>)[] = [
    nodeDriver,
    libsqlDriver,
  ],
): Promise<OpenDriver> {
  for (const find of kinds) {
    const driver = await find();
    if (driver !== undefined) return driver;
  }
  throw new JournalError(
    'unavailable',
    `The journal needs SQLite, and Node ${process.versions.node} has none: use Node 22.13 or newer, ` +
      'install the optional package libsql (npm install libsql@0.5.29), or set journal.url to ' +
      'postgres://… or memory:',
  );
}
