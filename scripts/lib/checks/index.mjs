import { compile } from '../build.mjs';
import { say, seconds, timed, withProgress } from '../progress.mjs';
import { capture, tool } from '../run.mjs';
import { checkManifests } from './manifests.mjs';
import { checkTarballs } from './tarballs.mjs';

/**
 * @typedef {import('../run.mjs').Result} Result
 * @typedef {{ name: string, run: () => Promise<Result>, fix?: string }} Check
 * @typedef {{ name: string, code: number, output: string, fix?: string }} Finding
 */

/**
 * @param {string[]} problems
 * @returns {Result}
 */
const fromProblems = (problems) => ({
  code: problems.length > 0 ? 1 : 0,
  output: problems.join('\n'),
});

/**
 * Runs first: the linter reads its declarations, and the tarballs contain its output.
 *
 * @type {Check}
 */
const types = { name: 'types', run: () => compile(['test', 'scripts', 'examples']) };

/**
 * Independent of each other; the slowest first, to use two cores well.
 *
 * @type {Check[]}
 */
const others = [
  { name: 'tarballs', run: async () => fromProblems(await checkTarballs()) },
  {
    name: 'lint',
    run: () =>
      capture(
        tool('oxlint', ['--type-aware', '--deny-warnings', '--report-unused-disable-directives']),
      ),
  },
  { name: 'unused', run: () => capture(tool('knip', ['--no-progress', '--no-config-hints'])) },
  { name: 'format', run: () => capture(tool('oxfmt', ['--check'])), fix: 'npm run format' },
  { name: 'manifests', run: async () => fromProblems(checkManifests()) },
];

/**
 * Runs all checks, even if some fail, and prints one line for each.
 *
 * @returns {Promise<string[]>} the names of those that failed
 */
export const runChecks = async () => {
  /** @type {Finding[]} */
  const failed = [];
  /** @type {Set<string>} */
  const running = new Set();

  const runCheck = async (/** @type {Check} */ { name, run, fix }) => {
    running.add(name);
    const { value, ms } = await timed(run);
    running.delete(name);
    say(`  ${value.code === 0 ? 'ok  ' : 'FAIL'}  ${name.padEnd(10)} ${seconds(ms).padStart(7)}`);
    if (value.code !== 0) failed.push({ name, ...value, ...(fix && { fix }) });
  };

  say('check');
  await withProgress(
    () => `  running: ${[...running].join(', ')}`,
    async () => {
      await runCheck(types);
      const queue = [...others];
      const worker = async () => {
        for (let next = queue.shift(); next; next = queue.shift()) await runCheck(next);
      };
      await Promise.all([worker(), worker()]);
    },
  );
  for (const { name, output, fix } of failed) {
    say(`\n── ${name} ${'─'.repeat(60)}\n${output}`);
    if (fix) say(`To fix it, run: ${fix}`);
  }
  return failed.map(({ name }) => name);
};
