import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withProgress } from '../../../scripts/lib/progress.mjs';
import { withSpread } from '../format.mjs';
import { spread } from '../stats.mjs';

/**
 * @typedef {import('../nodes.mjs').Runtime} Runtime
 * @typedef {import('../stats.mjs').Spread} Spread
 * @typedef {{ oursUs: Spread, bareUs: Spread, rate: Spread, replayUs: Spread, memoryUs: Spread }} JournalCost
 * @typedef {Partial<Record<import('../packages.mjs').Line, JournalCost>>} JournalCosts
 */

export const journalName = 'journal: claim, send and settle, compared with bare statements';

export const journalRounds = 5;

const child = fileURLToPath(new URL('child.mjs', import.meta.url));
const run = promisify(execFile);

/**
 * @param {Runtime} runtime
 * @param {'sqlite' | 'memory'} what
 * @param {number} blocks
 */
const once = async ({ path }, what, blocks) => {
  const { NODE_OPTIONS: _, ...env } = process.env; // must not affect the measurement
  const { stdout } = await run(path, [child, what, String(blocks)], { env, timeout: 120_000 });
  return JSON.parse(stdout);
};

/**
 * @param {readonly Runtime[]} runtimes
 * @param {boolean} quick
 * @returns {Promise<JournalCosts>}
 */
export const measureJournal = async (runtimes, quick) => {
  /** @type {JournalCosts} */
  const costs = {};
  const rounds = quick ? 1 : journalRounds;
  let label = 'the journal';
  await withProgress(
    () => label,
    async () => {
      for (const runtime of runtimes) {
        /** @type {Record<keyof JournalCost, number>[]} */
        const all = [];
        for (let round = 0; round < rounds; round++) {
          label = `the journal on Node ${runtime.line}, ${round} of ${rounds} rounds done`;
          const kept = await once(runtime, 'sqlite', quick ? 15 : 30);
          all.push({ ...kept, ...(await once(runtime, 'memory', quick ? 15 : 30)) });
        }
        const of = (/** @type {keyof JournalCost} */ name) => spread(all.map((one) => one[name]));
        costs[runtime.line] = {
          oursUs: of('oursUs'),
          bareUs: of('bareUs'),
          rate: of('rate'),
          replayUs: of('replayUs'),
          memoryUs: of('memoryUs'),
        };
      }
    },
  );
  return costs;
};

/**
 * @param {JournalCosts} costs
 * @returns {import('../format.mjs').Table}
 */
export const journalTable = (costs) => ({
  head: ['the journal, µs', 'measured', 'bare statements', 'rate'],
  rows: Object.entries(costs).flatMap(([line, { oursUs, bareUs, rate, replayUs, memoryUs }]) => [
    [
      `Node ${line}: claim, send and settle in SQLite`,
      ...[oursUs, bareUs, rate].map((one) => withSpread(one)),
    ],
    [`Node ${line}: a replay from SQLite`, withSpread(replayUs), '–', '–'],
    [`Node ${line}: claim, send and settle in memory`, withSpread(memoryUs), '–', '–'],
  ]),
});
