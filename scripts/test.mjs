import './lib/require-node.mjs';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks } from './lib/checks/index.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { readJson } from './lib/json.mjs';
import { main } from './lib/main.mjs';
import { ensurePostgres } from './lib/postgres.mjs';
import { say, seconds, timed } from './lib/progress.mjs';
import { ready } from './lib/ready.mjs';
import { show, tool } from './lib/run.mjs';
import { summarise, summaryLine } from './lib/summary.mjs';

const long = process.argv.includes('--long');
const passedOn = process.argv.slice(2).filter((arg) => arg !== '--long');

/** Runs vitest on our terminal and counts what it did from its own report. */
const runTests = async () => {
  const temp = mkdtempSync(join(tmpdir(), 'toolkeel-test-'));
  try {
    const report = join(temp, 'report.json');
    const mode = long ? ['--mode', 'long'] : [];
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const code = await show(tool('vitest', ['run', ...mode, ...reporters, ...passedOn]));
    return summarise(existsSync(report) ? readJson(report) : undefined, code);
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
};

await main(async () => {
  const install = await timed(async () => {
    await ensureInstalled();
    await ensurePostgres();
  });
  // The checks compile everything too. When they fail, the tests still run: they read the sources.
  const check = await timed(async () => (long ? ready().then(() => []) : runChecks()));
  const test = await timed(runTests);

  const stages = { install, [long ? 'build' : 'check']: check, test };
  say(
    Object.entries(stages)
      .map(([name, { ms }]) => `${name} ${seconds(ms)}`)
      .join(' · '),
  );
  if (check.value.length > 0) say(`check failed: ${check.value.join(', ')}`);
  if (test.value.passed + test.value.failed === 0) say('no test ran, which counts as a failure');
  say(summaryLine(test.value));
  return check.value.length > 0 || test.value.failed > 0 || test.value.passed === 0 ? 1 : 0;
});
