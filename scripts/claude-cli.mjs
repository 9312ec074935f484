import './lib/require-node.mjs';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './lib/install.mjs';
import { main } from './lib/main.mjs';
import { cacheDir, inRoot } from './lib/paths.mjs';
import { capture, node, show, tool } from './lib/run.mjs';

/**
 * @typedef {{ title: string, status: string, duration?: number }} TestCase
 * @typedef {{ testResults: { assertionResults: TestCase[] }[] }} Report
 */

const page = inRoot('docs', 'llm-claude-cli.md');

/** @param {string} folder */
const findCli = (folder) => {
  const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;
  const path = join(folder, 'node_modules', name, 'claude');
  if (!existsSync(path)) throw new Error(`There is no Claude CLI for this platform (${name}).`);
  return path;
};

/**
 * @param {Report} report
 * @param {string} version
 */
const markdown = ({ testResults }, version) => {
  const cases = testResults.flatMap(({ assertionResults }) => assertionResults);
  const rows = cases.map(
    ({ title, status, duration = 0 }) =>
      `| ${title.replaceAll('|', '\\|')} | ${status} | ${(duration / 1000).toFixed(1)} s |`,
  );
  const passed = cases.filter(({ status }) => status === 'passed').length;
  return [
    '# The Claude adapter on the real CLI',
    '',
    '<!-- Written by npm run test:claude-cli -->',
    '',
    `Claude CLI ${version}, driven by \`@anthropic-ai/claude-agent-sdk\`, against the Messages endpoint of the sandbox with a made-up OAuth token. Node ${process.version}, ${process.platform} ${process.arch}. ${passed} of ${cases.length} tests passed.`,
    '',
    'These are the tests that `npm test` runs on the stand-in of the CLI (`packages/llm/test/claude.test.ts`). The stand-in alone can also be told to misbehave (`claude-process.test.ts`).',
    '',
    '| test | result | time |',
    '| --- | --- | ---: |',
    ...rows,
    '',
    'What the real CLI showed that its documentation does not say:',
    '',
    '- `CLAUDE_CODE_MAX_RETRIES=0` does not stop it from asking again after a stream that broke: it adds a message of its own ("Your response above was cut off mid-stream…") and requests up to several more answers. It does the same when an answer reaches its maximum length. The adapter ends the process at the first sign of either, so retries stay its own; one more request may have left by then.',
    '- It ends a broken message with `message_stop` but without a stop reason. Only the stop reason is a finish mark.',
    '- The error inside such a stream (an overload, for example) is not reported: the adapter reports `incomplete_stream`.',
    '- It sends a request that the API refuses with 400 up to three times, each time with one experimental feature less. `CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS=1` leaves one request.',
    '- A request that the API refuses with 401 is sent twice, announced by an `api_retry` with `authentication_failed`, so that the CLI can renew an expired login in between. The adapter leaves it that, and ends the process at every other `api_retry`.',
    '',
  ].join('\n');
};

await main(async () => {
  await ensureInstalled();
  const folder = inRoot('test', 'claude-cli');
  await ensureInstalled(folder);
  const cli = findCli(folder);
  const { stdout } = await capture({ file: cli, args: ['--version'] });
  const version = stdout.trim().split(' ')[0] ?? 'unknown';
  const reportFile = join(cacheDir, 'claude-cli.json');
  rmSync(reportFile, { force: true });
  process.env['TOOLKEEL_TEST_CLAUDE_CLI'] = cli;
  const { args } = tool('vitest', [
    'run',
    'packages/llm/test/claude.test.ts',
    '--reporter=default',
    '--reporter=json',
    `--outputFile=${reportFile}`,
  ]);
  const code = await show(node(args));
  if (existsSync(reportFile)) {
    /** @type {Report} */
    const report = JSON.parse(readFileSync(reportFile, 'utf8'));
    writeFileSync(page, markdown(report, version));
  }
  return code;
});
