import {
  clientSettings,
  openPool,
} from '../../../packages/journal/dist/store/postgres/connection.js';
import { answer, args, newKey } from './work.mjs';

/** As many connections as the journal has. */
const connections = 8;

/** @param {string} url */
export const connect = (url) => openPool(clientSettings(url, 10_000), connections);

/**
 * A minimal hand-written journal: three prepared statements on one table, each a durable transaction of one round
 * trip, with the same driver and number of connections. It has no leases, audit log, policy limits or expiry of dedup
 * keys.
 *
 * @param {string} url
 */
export const openBarePostgres = async (url) => {
  const pool = connect(url);
  const table = `bare_${process.pid}`;
  await pool.query(
    `CREATE TABLE ${table} (id TEXT PRIMARY KEY, slot TEXT UNIQUE, state TEXT, args TEXT, answer TEXT, at BIGINT)`,
  );
  const claim = `INSERT INTO ${table} (id, slot, state, args, at) VALUES ($1, $2, 'claimed', $3, $4)`;
  const send = `UPDATE ${table} SET state = 'sending', at = $1 WHERE id = $2 AND state = 'claimed'`;
  const settle = `UPDATE ${table} SET state = 'succeeded', answer = $1, at = $2 WHERE id = $3`;
  return {
    mutate: async () => {
      const id = newKey();
      await pool.query({ name: 'claim', text: claim, values: [id, id, args, Date.now()] });
      await pool.query({ name: 'send', text: send, values: [Date.now(), id] });
      await pool.query({ name: 'settle', text: settle, values: [answer, Date.now(), id] });
    },
    close: () => pool.end(),
  };
};
