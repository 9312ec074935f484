import './lib/require-node.mjs';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks } from './lib/checks/index.mjs';
import { failuresOf } from './lib/failures.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { readJson } from './lib/json.mjs';
import { main } from './lib/main.mjs';
import { otherNode } from './lib/newer-node.mjs';
import { ensurePostgres } from './lib/postgres.mjs';
import { ensurePromtool } from './lib/promtool.mjs';
import { say, seconds, timed } from './lib/progress.mjs';
import { ready } from './lib/ready.mjs';
import { show, tool } from './lib/run.mjs';
import { summarise, summaryLine, total } from './lib/summary.mjs';

const long = process.argv.includes('--long');
const unit = process.argv.includes('--unit');
const given = process.argv.slice(2).filter((arg) => arg !== '--long' && arg !== '--unit');
/** Packages whose unit tests need neither a build nor a database nor a process. */
const UNIT_TESTS = ['kernel', 'contract', 'policy'].map((name) => `packages/${name}/src`);
const passedOn = unit ? [...UNIT_TESTS, ...given] : given;

/**
 * Runs vitest on our terminal and counts what it did from its own report.
 *
 * @param {string[]} mode
 * @param {string} [onNode]
 */
const runTests = async (mode, onNode) => {
  const temp = mkdtempSync(join(tmpdir(), 'toolkeel-test-'));
  try {
    const report = join(temp, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const { file, args } = tool('vitest', ['run', ...mode, ...reporters, ...passedOn]);
    const code = await show({ file: onNode ?? file, args });
    /** @type {import('./lib/summary.mjs').Report | undefined} */
    const told = existsSync(report) ? readJson(report) : undefined;
    return { ...summarise(told, code), failures: failuresOf(told) };
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
};

/**
 * The Node that what touches the runtime is tested on once more. A run of chosen files is somebody's who is at work.
 */
const findOtherNode = () => (long || passedOn.length > 0 ? undefined : otherNode());

await main(async () => {
  const install = await timed(async () => {
    await ensureInstalled();
    if (unit) return;
    await ensurePostgres();
    await ensurePromtool();
  });
  const other = findOtherNode();
  // The checks compile everything too. When they fail, the tests still run: they read the sources.
  const check = await timed(async () => {
    if (unit) return [];
    return long ? ready().then(() => []) : runChecks();
  });
  const test = await timed(() => runTests(long ? ['--mode', 'long'] : []));
  if (other) say('\nOnce more, what touches the runtime, on a newer Node.');
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
  if (ranNothing) say('no test ran, which counts as a failure');
  say(summaryLine(tested));
  return check.value.length > 0 || tested.failed > 0 || ranNothing ? 1 : 0;
});
