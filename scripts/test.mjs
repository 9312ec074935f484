import './lib/require-node.mjs';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks } from './lib/checks/index.mjs';
import { ensureChromium } from './lib/chromium.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { readJson } from './lib/json.mjs';
import { main } from './lib/main.mjs';
import { otherNode } from './lib/newer-node.mjs';
import { inRoot } from './lib/paths.mjs';
import { ensurePostgres } from './lib/postgres.mjs';
import { ensurePromtool } from './lib/promtool.mjs';
import { say, seconds, timed } from './lib/progress.mjs';
import { ready } from './lib/build.mjs';
import { show, tool } from './lib/run.mjs';
import { formatFailures, summarise, summaryLine, total } from './lib/summary.mjs';

const long = process.argv.includes('--long');
const unit = process.argv.includes('--unit');
const given = process.argv.slice(2).filter((arg) => arg !== '--long' && arg !== '--unit');
/** Packages whose unit tests need neither a build nor a database nor a process. */
const UNIT_TESTS = ['kernel', 'contract', 'policy'].map((name) => `packages/${name}/src`);
const vitestArgs = unit ? [...UNIT_TESTS, ...given] : given;

/**
 * Runs vitest on the terminal and counts the results from the report.
 *
 * @param {string[]} mode
 * @param {string} [onNode]
 */
const runTests = async (mode, onNode) => {
  const temp = mkdtempSync(join(tmpdir(), 'toolkeel-test-'));
  try {
    const report = join(temp, 'report.json');
    const own = inRoot('scripts', 'lib', 'reporter.mjs');
    const reporters = ['--reporter=default', `--reporter=${own}`, `--outputFile=${report}`];
    const { file, args } = tool('vitest', ['run', ...mode, ...reporters, ...vitestArgs]);
    const code = await show({ file: onNode ?? file, args });
    /** @type {import('./lib/summary.mjs').Report | undefined} */
    const result = existsSync(report) ? readJson(report) : undefined;
    return { ...summarise(result, code), failures: formatFailures(result) };
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
};

/** The newer Node for a second run of the runtime suites; not for a run of selected files. */
const findOtherNode = () => (long || vitestArgs.length > 0 ? undefined : otherNode());

await main(async () => {
  const install = await timed(async () => {
    await ensureInstalled();
    if (unit) return;
    await ensurePostgres();
    await ensurePromtool();
    await ensureChromium();
  });
  const other = findOtherNode();
  // The checks compile everything too. If they fail, the tests still run: they use the sources.
  const check = await timed(async () => {
    if (unit) return [];
    return long ? ready().then(() => []) : runChecks();
  });
  const test = await timed(() => runTests(long ? ['--mode', 'long'] : []));
  if (other) say('\nRepeating the runtime suites on a newer Node.');
  const again = other && (await timed(() => runTests(['--mode', 'runtime'], other)));

  const stages = {
    install,
    ...(!unit && { [long ? 'build' : 'check']: check }),
    test,
    ...(again && { 'newer Node': again }),
  };
  const runs = [test.value, ...(again ? [again.value] : [])];
  const tested = total(runs);
  for (const failure of runs.flatMap(({ failures }) => failures)) say(`\n${failure}`);
  say(
    Object.entries(stages)
      .map(([name, { ms }]) => `${name} ${seconds(ms)}`)
      .join(' · '),
  );
  if (check.value.length > 0) say(`check failed: ${check.value.join(', ')}`);
  const ranNothing = [test, again].some((run) => run && run.value.passed + run.value.failed === 0);
  if (ranNothing) say('no test ran: this counts as a failure');
  say(summaryLine(tested));
  return check.value.length > 0 || tested.failed > 0 || ranNothing ? 1 : 0;
});
