import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withProgress } from '../../../scripts/lib/progress.mjs';
import { digits, withSpread } from '../format.mjs';
import { median, spread } from '../stats.mjs';
import { openHttp, openStdio } from './clients.mjs';
import { httpCommands, stdioCommands, writeConfigs } from './commands.mjs';
import { loadAll } from './load.mjs';

/**
 * @typedef {import('../stats.mjs').Spread} Spread
 * @typedef {import('../nodes.mjs').Runtime} Runtime
 * @typedef {import('../packages.mjs').Line} Line
 * @typedef {{ p50Us: Spread, rate: Spread, cpuUs: Spread }} Cell
 * @typedef {Record<string, Cell>} Cells by subject
 * @typedef {{ addedUs: Spread, rateRatio: Spread }} Added by the guard to the direct connection
 * @typedef {object} GuardCost by the number of calls in flight
 * @property {Record<number, Cells>} http
 * @property {Record<number, Cells & { added?: never }>} stdio
 * @property {Record<number, Added>} added
 * @property {{ onceUs: Spread, readUs: Spread, insertUs: Spread }} durable
 * @typedef {Partial<Record<Line, GuardCost>>} GuardCosts
 */

export const guardName = 'guard: a read tool of server-everything through proxies, stdio and HTTP';
export const rivals = ['mcp-proxy', 'supergateway'];
export const inFlights = [1, 16, 50];
export const guardRounds = 5;

/** V8 on Node 24 optimises a process that forwards calls only after some 20,000 of them. */
const plans = {
  stdio: {
    1: { blocks: 10, calls: 300, warmUp: 2000 },
    16: { blocks: 6, calls: 3000, warmUp: 20_000 },
    50: { blocks: 6, calls: 3000, warmUp: 2000 },
  },
  http: {
    1: { blocks: 6, calls: 200, warmUp: 1000 },
    16: { blocks: 4, calls: 1000, warmUp: 1000 },
    50: { blocks: 4, calls: 1000, warmUp: 1000 },
  },
};

/**
 * One durable insert into a table of its own, as the cheapest thing that could remember a call.
 *
 * @param {number} times
 * @returns {Promise<number>} p50 in microseconds
 */
const timeInserts = async (times) => {
  const { chooseDriver } = await import('../../../packages/journal/dist/store/sqlite/drivers.js');
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-bench-'));
  const driver = (await chooseDriver())(join(dir, 'bare.db'), 1000);
  driver.exec('PRAGMA journal_mode = WAL');
  driver.exec('PRAGMA synchronous = FULL');
  driver.exec('CREATE TABLE calls (id INTEGER PRIMARY KEY, args TEXT)');
  const all = [];
  for (let i = 0; i < times; i++) {
    const started = performance.now();
    driver.rows('INSERT INTO calls (args) VALUES (?)', [JSON.stringify({ message: `hello ${i}` })]);
    all.push((performance.now() - started) * 1000);
  }
  driver.close();
  rmSync(dir, { recursive: true, force: true });
  return median(all);
};

/**
 * One round with new processes: all numbers in flight, on stdio or over HTTP.
 *
 * @param {Runtime} runtime
 * @param {'stdio' | 'http'} transport
 */
const round = async ({ path: node }, transport) => {
  const configs = writeConfigs(node);
  /** @type {Record<string, import('./load.mjs').Subject>} */
  const subjects = {};
  try {
    const { once: _, ...reads } = stdioCommands(node, configs);
    if (transport === 'stdio')
      for (const [name, args] of Object.entries(reads))
        subjects[name] = await openStdio(node, args, configs.env);
    else
      for (const [name, argsFor] of Object.entries(httpCommands(node, configs)))
        subjects[name] = await openHttp(node, argsFor, configs.env, Math.max(...inFlights));
    /** @type {Record<number, Record<string, import('./load.mjs').Load>>} */
    const loads = {};
    for (const inFlight of /** @type {(1 | 16 | 50)[]} */ (inFlights))
      loads[inFlight] = await loadAll(subjects, inFlight, plans[transport][inFlight]);
    return loads;
  } finally {
    await Promise.all(Object.values(subjects).map((subject) => subject.close()));
    configs.remove();
  }
};

/** @param {Runtime} runtime */
const durableRound = async ({ path: node }) => {
  const configs = writeConfigs(node);
  const { guard, once } = stdioCommands(node, configs);
  /** @type {Record<string, import('./load.mjs').Subject>} */
  const subjects = {};
  try {
    subjects['read'] = await openStdio(node, guard, configs.env);
    subjects['once'] = await openStdio(node, once, configs.env);
    const loads = await loadAll(subjects, 1, { blocks: 4, calls: 100, warmUp: 200 });
    const insertUs = await timeInserts(400);
    return {
      onceUs: loads['once']?.p50Us ?? Number.NaN,
      readUs: loads['read']?.p50Us ?? Number.NaN,
      insertUs,
    };
  } finally {
    await Promise.all(Object.values(subjects).map((subject) => subject.close()));
    configs.remove();
  }
};

/**
 * @param {readonly Record<number, Record<string, import('./load.mjs').Load>>[]} all
 * @returns {Record<number, Cells>}
 */
const summarise = (all) =>
  Object.fromEntries(
    inFlights.map((inFlight) => [
      inFlight,
      Object.fromEntries(
        Object.keys(all[0]?.[inFlight] ?? {}).map((name) => {
          const loads = all.flatMap((one) => one[inFlight]?.[name] ?? []);
          return [
            name,
            {
              p50Us: spread(loads.map(({ p50Us }) => p50Us)),
              rate: spread(loads.map(({ rate }) => rate)),
              cpuUs: spread(loads.map(({ cpuUs }) => cpuUs)),
            },
          ];
        }),
      ),
    ]),
  );

/**
 * @param {readonly Record<number, Record<string, import('./load.mjs').Load>>[]} all
 * @returns {Record<number, Added>}
 */
const addedIn = (all) =>
  Object.fromEntries(
    inFlights.map((inFlight) => {
      const pairs = all.flatMap((one) => {
        const { guard, direct } = one[inFlight] ?? {};
        return guard && direct ? [{ guard, direct }] : [];
      });
      return [
        inFlight,
        {
          addedUs: spread(pairs.map(({ guard, direct }) => guard.p50Us - direct.p50Us)),
          rateRatio: spread(pairs.map(({ guard, direct }) => guard.rate / direct.rate)),
        },
      ];
    }),
  );

/**
 * @param {readonly Runtime[]} runtimes
 * @param {boolean} quick
 * @returns {Promise<GuardCosts>}
 */
export const measureGuard = async (runtimes, quick) => {
  /** @type {GuardCosts} */
  const costs = {};
  const rounds = quick ? 1 : guardRounds;
  let label = 'guard';
  await withProgress(
    () => label,
    async () => {
      for (const runtime of runtimes) {
        const [stdio, http, durable] = [[], [], []].map((list) => /** @type {any[]} */ (list));
        for (let done = 0; done < rounds; done++) {
          label = `the guard on Node ${runtime.line}, ${done} of ${rounds} rounds done`;
          stdio?.push(await round(runtime, 'stdio'));
          http?.push(await round(runtime, 'http'));
          durable?.push(await durableRound(runtime));
        }
        costs[runtime.line] = {
          stdio: summarise(stdio ?? []),
          http: summarise(http ?? []),
          added: addedIn(stdio ?? []),
          durable: {
            onceUs: spread((durable ?? []).map(({ onceUs }) => onceUs)),
            readUs: spread((durable ?? []).map(({ readUs }) => readUs)),
            insertUs: spread((durable ?? []).map(({ insertUs }) => insertUs)),
          },
        };
      }
    },
  );
  return costs;
};

/**
 * @param {GuardCosts} costs
 * @returns {import('../format.mjs').Table}
 */
export const guardTable = (costs) => ({
  head: ['a read tool of server-everything', 'p50 in µs', 'calls a second', 'CPU in µs a call'],
  rows: Object.entries(costs).flatMap(([line, { stdio, http, durable }]) => [
    ...[
      { title: 'stdio', all: stdio },
      { title: 'HTTP', all: http },
    ].flatMap(({ title, all }) =>
      Object.entries(all).flatMap(([inFlight, cells]) => [
        [`Node ${line}, ${title}, ${inFlight} in flight`],
        ...Object.entries(cells).map(([name, { p50Us, rate, cpuUs }]) => [
          name,
          withSpread(p50Us),
          withSpread(rate, (value) => value.toFixed(0)),
          withSpread(cpuUs),
        ]),
      ]),
    ),
    [`Node ${line}, stdio, a mutation through the guard`],
    ['once tool, durable claim', withSpread(durable.onceUs), '–', '–'],
    ['the same tool as a read', withSpread(durable.readUs), '–', '–'],
    [
      'a bare durable insert',
      withSpread(durable.insertUs),
      digits(1e6 / durable.insertUs.median),
      '–',
    ],
  ]),
});
