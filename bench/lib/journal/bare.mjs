import { chooseDriver } from '../../../packages/journal/dist/store/sqlite/drivers.js';
import { answer, args, newKey } from './work.mjs';

/**
 * A minimal hand-written journal: three prepared statements on one table, each committed to disk, with the same
 * driver and settings. It has no leases, audit log, policy limits or expiry of dedup keys.
 *
 * @param {string} path
 */
export const openBare = async (path) => {
  const driver = (await chooseDriver())(path, 1000);
  driver.exec('PRAGMA journal_mode = WAL');
  driver.exec('PRAGMA synchronous = FULL');
  driver.exec(
    'CREATE TABLE operations (id TEXT PRIMARY KEY, slot TEXT UNIQUE, state TEXT, args TEXT, answer TEXT, at INTEGER)',
  );
  const claim = "INSERT INTO operations (id, slot, state, args, at) VALUES (?, ?, 'claimed', ?, ?)";
  const send = "UPDATE operations SET state = 'sending', at = ? WHERE id = ? AND state = 'claimed'";
  const settle = "UPDATE operations SET state = 'succeeded', answer = ?, at = ? WHERE id = ?";
  return {
    mutate: async () => {
      const id = newKey();
      driver.rows(claim, [id, id, args, Date.now()]);
      driver.rows(send, [Date.now(), id]);
      driver.rows(settle, [answer, Date.now(), id]);
    },
    close: driver.close,
  };
};
