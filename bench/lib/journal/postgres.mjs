import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startCluster } from '../../../packages/journal/dist/testing/index.js';
import { withProgress } from '../../../scripts/lib/progress.mjs';
import { percent, withSpread } from '../format.mjs';
import { spread } from '../stats.mjs';
import { connect } from './bare-postgres.mjs';

/**
 * @typedef {import('../nodes.mjs').Runtime} Runtime
 * @typedef {import('../stats.mjs').Spread} Spread
 * @typedef {'oneUs' | 'oneBareUs' | 'oneRate' | 'manyUs' | 'manyBareUs' | 'manyRate' | 'replayUs' | 'lockWaits'} Figure
 * @typedef {Record<Figure, Spread>} PostgresCost
 * @typedef {Partial<Record<import('../packages.mjs').Line, PostgresCost>>} ByRuntime
 * @typedef {{ costs: ByRuntime, reason?: string }} PostgresCosts `reason`: why it was not measured
 */

export const postgresRounds = 3;
/** The processes of which the share of lock waits is measured. */
export const processes = 4;

const child = fileURLToPath(new URL('postgres-child.mjs', import.meta.url));
const run = promisify(execFile);

/**
 * @param {Runtime} runtime
 * @param {'rate' | 'load'} what
 * @param {string} url
 * @param {number} amount
 */
const once = async ({ path }, what, url, amount) => {
  const { NODE_OPTIONS: _, ...env } = process.env; // must not affect the measurement
  const args = [child, what, url, String(amount)];
  const { stdout } = await run(path, args, { env, timeout: 180_000 });
  return JSON.parse(stdout);
};

/**
 * The share of the sampled active sessions of the journal that wait for a lock.
 *
 * @param {Runtime} runtime
 * @param {string} url
 * @param {number} seconds
 */
const lockWaits = async (runtime, url, seconds) => {
  const pool = connect(url);
  let [active, locked] = [0, 0];
  const over = new AbortController();
  const sample = async () => {
    while (!over.signal.aborted) {
      const { rows } = await pool.query(
        `SELECT wait_event_type FROM pg_stat_activity WHERE state = 'active' AND application_name = 'toolkeel' AND pid <> pg_backend_pid()`,
      );
      active += rows.length;
      locked += rows.filter(({ wait_event_type }) => wait_event_type === 'Lock').length;
      await sleep(5);
    }
  };
  const sampling = sample();
  await Promise.all(
    Array.from({ length: processes }, () => once(runtime, 'load', url, seconds)),
  ).finally(() => over.abort());
  await sampling;
  await pool.end();
  return locked / active;
};

/**
 * @param {readonly Runtime[]} runtimes
 * @param {boolean} quick
 * @returns {Promise<PostgresCosts>}
 */
export const measurePostgres = async (runtimes, quick) => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-bench-postgres-'));
  /** @type {ByRuntime} */
  const costs = {};
  let cluster;
  try {
    cluster = await startCluster(dir, process.pid, { isDurable: true });
  } catch (error) {
    rmSync(dir, { recursive: true });
    return { costs, reason: /** @type {Error} */ (error).message };
  }
  const rounds = quick ? 1 : postgresRounds;
  let label = 'the journal in PostgreSQL';
  await withProgress(
    () => label,
    async () => {
      for (const runtime of runtimes) {
        /** @type {Record<Figure, number>[]} */
        const all = [];
        for (let round = 0; round < rounds; round++) {
          label = `the journal in PostgreSQL on Node ${runtime.line}, ${round} of ${rounds} rounds done`;
          const url = `${cluster.url}&schema=bench_${runtime.line}_${round}`;
          const figures = await once(runtime, 'rate', url, quick ? 5 : 15);
          all.push({ ...figures, lockWaits: await lockWaits(runtime, url, quick ? 3 : 6) });
        }
        const names = /** @type {Figure[]} */ (Object.keys(/** @type {object} */ (all[0])));
        costs[runtime.line] = /** @type {PostgresCost} */ (
          Object.fromEntries(names.map((name) => [name, spread(all.map((one) => one[name]))]))
        );
      }
    },
  );
  await cluster.kill();
  rmSync(dir, { recursive: true });
  return { costs };
};

/**
 * @param {PostgresCosts} costs
 * @returns {import('../format.mjs').Table}
 */
export const postgresTable = ({ costs, reason }) => ({
  head: ['the journal in PostgreSQL, µs', 'measured', 'bare transactions', 'rate'],
  rows: [
    ...(reason === undefined ? [] : [[`not measured: ${reason}`, '–', '–', '–']]),
    ...Object.entries(costs).flatMap(([line, cost]) => [
      [
        `Node ${line}: claim, send and settle, 1 in flight`,
        ...[cost.oneUs, cost.oneBareUs, cost.oneRate].map((one) => withSpread(one)),
      ],
      [
        `Node ${line}: claim, send and settle, 32 in flight`,
        ...[cost.manyUs, cost.manyBareUs, cost.manyRate].map((one) => withSpread(one)),
      ],
      [`Node ${line}: a replay`, withSpread(cost.replayUs), '–', '–'],
      [
        `Node ${line}: active sessions of ${processes} processes that wait for a lock`,
        percent(cost.lockWaits.median),
        '–',
        '–',
      ],
    ]),
  ],
});
