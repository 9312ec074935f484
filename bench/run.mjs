import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { main } from '../scripts/lib/main.mjs';
import { inRoot } from '../scripts/lib/paths.mjs';
import { say, seconds, timed, withProgress } from '../scripts/lib/progress.mjs';
import { groups } from './cases/index.mjs';
import { judge } from './lib/thresholds.mjs';
import { asText } from './lib/format.mjs';
import { loadCase } from './lib/case.mjs';
import { journalName, journalTable, measureJournal } from './lib/journal/journal.mjs';
import { measurePostgres, postgresTable } from './lib/journal/postgres.mjs';
import { guardName, guardTable, measureGuard } from './lib/guard/guard.mjs';
import { load } from './lib/machine.mjs';
import { findNodes } from './lib/nodes.mjs';
import { markdown } from './lib/report.mjs';
import { measureServed, servedNames, servedTable } from './lib/served/served.mjs';
import { planRounds, timeAll, weighAll } from './lib/rounds.mjs';
import { sizeAll } from './lib/size.mjs';
import { costTable, heapTable, sizeTable, thresholdTable } from './lib/tables.mjs';

const help = `Measure the cost of a resilient call and compare it with other libraries.

  npm run bench                          run everything in about ten minutes and write docs/benchmarks.md
  npm run bench -- --quick               run one short round; write nothing
  npm run bench -- --only toolkeel       run only cases, libraries or groups with this in their name; write nothing
  npm run bench -- --node ~/node24/bin/node   use this Node if none of its line (20, 24) is found

Exits with code 1 if a threshold is missed or could not be measured.

Example: the effect of a change to the kernel

  npm run bench -- --only breaker

to the host, or to the journal

  npm run bench -- --only served
  npm run bench -- --only journal
  npm run bench -- --only postgres

to the guard

  npm run bench -- --only guard
`;

const rounds = { all: { 20: 7, 24: 5 }, explaining: { 20: 3, 24: 3 }, heap: 3 };

const pagePath = inRoot('docs', 'benchmarks.md');

/**
 * @param {string} name
 * @param {string} only
 */
const isSelected = (name, only) => name.toLowerCase().includes(only.toLowerCase());

/** @param {string} only */
const selectedCases = async (only) => {
  /** @type {Map<string, import('./lib/case.mjs').Case>} */
  const cases = new Map();
  for (const { title, cases: ids } of groups)
    for (const id of ids) {
      const one = await loadCase(id);
      if (isSelected(`${title}\n${id}\n${one.name}`, only)) cases.set(id, one);
    }
  return cases;
};

/**
 * @param {string} what
 * @param {readonly import('./lib/rounds.mjs').Step[]} steps
 */
const progressOf = (what, steps) => {
  let label = what;
  return {
    label: () => label,
    onStep: (
      /** @type {import('./lib/rounds.mjs').Step} */ { round, runtime, id },
      /** @type {number} */ done,
    ) => {
      label = `${what}, ${done} of ${steps.length} done, now ${id} on Node ${runtime.line}`;
      const first = steps.findIndex((step) => step.round === round) === done;
      if (first && !process.stdout.isTTY && done > 0)
        say(`${what}, ${done} of ${steps.length} done`);
    },
  };
};

await main(async () => {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      node: { type: 'string', multiple: true, default: [] },
    },
  });
  if (values.help) {
    say(help);
    return 0;
  }
  const { quick, only } = values;
  const cases = await selectedCases(only);
  const servers = {
    calls: isSelected(servedNames.calls, only),
    http: isSelected(servedNames.http, only),
    starts: isSelected(servedNames.starts, only),
  };
  const isJournalSelected = isSelected(journalName, only);
  const isPostgresSelected = isJournalSelected || isSelected('postgres', only);
  const isGuardSelected = isSelected(guardName, only);
  const isAny = Object.values(servers).includes(true) || isPostgresSelected || isGuardSelected;
  if (cases.size === 0 && !isAny) throw new Error(`No case has "${only}" in its name.`);
  const { found: runtimes, missing } = await findNodes(values.node);
  for (const line of missing)
    say(
      `No Node ${line} for ${process.platform} ${process.arch} is installed: ` +
        `pass one with --node <path>. Its thresholds are not measured.`,
    );

  const batches = quick ? 7 : 13;
  const explaining = groups.filter(({ explains }) => explains).flatMap((group) => group.cases);
  const roundsOf = (
    /** @type {import('./lib/packages.mjs').Line} */ line,
    /** @type {string} */ id,
  ) => {
    if (quick) return 1;
    return (explaining.includes(id) ? rounds.explaining : rounds.all)[line];
  };
  const loads = [load()];
  const watch = setInterval(() => loads.push(load()), 5000);
  watch.unref();

  const { value: results, ms } = await timed(async () => {
    const sizes = await sizeAll(
      cases,
      runtimes.map(({ line }) => line),
    );
    const timing = planRounds(runtimes, [...cases.keys()], roundsOf);
    const clock = progressOf('timing', timing);
    const costs = await withProgress(clock.label, () => timeAll(timing, batches, clock.onStep));
    const kept = [...cases].filter(([, { keeps }]) => keeps !== undefined).map(([id]) => id);
    const weighing = planRounds(runtimes, kept, () => (quick ? 1 : rounds.heap));
    const scales = progressOf('weighing', weighing);
    const heaps = await withProgress(scales.label, () => weighAll(weighing, scales.onStep));
    const served = await measureServed(runtimes, servers, quick);
    const journal = isJournalSelected ? await measureJournal(runtimes, quick) : {};
    const postgres = isPostgresSelected ? await measurePostgres(runtimes, quick) : { costs: {} };
    const guard = isGuardSelected ? await measureGuard(runtimes, quick) : {};
    return { costs, heaps, sizes, served, journal, postgres, guard };
  });
  clearInterval(watch);

  const judgements = judge(results).filter(
    ({ status }) => only === '' || status !== 'not measured',
  );
  const tables = [
    costTable(results, cases, groups),
    heapTable(results, cases),
    sizeTable(results, cases),
    servedTable(results.served),
    journalTable(results.journal),
    postgresTable(results.postgres),
    guardTable(results.guard),
    thresholdTable(judgements),
  ];
  for (const table of tables) if (table.rows.length > 0) say(`\n${asText(table)}`);
  say(`\nDone in ${seconds(ms)}.`);

  if (!quick && only === '' && missing.length === 0) {
    const loadSpan = { min: Math.min(...loads), max: Math.max(...loads) };
    writeFileSync(
      pagePath,
      markdown({ results, judgements, cases, groups, runtimes, rounds, batches, load: loadSpan }),
    );
    say('Written to docs/benchmarks.md.');
  }
  const missed = judgements.filter(({ status }) => status !== 'met');
  for (const { threshold, measured, status } of missed)
    say(`${status.toUpperCase()}: ${threshold} (${measured})`);
  return missed.length > 0 ? 1 : 0;
});
