import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The one that is installed for this platform, where the one that runs is too old. */
const nodeWithSqlite = (): string => {
  if (process.getBuiltinModule('node:sqlite' as 'node:fs') !== undefined) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const dir = dirname(require.resolve(`${name}/package.json`));
  const path = join(dir, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(path)) return path;
  throw new Error(`this needs Node 22.13 or newer: run npm ci --include=optional for ${name}`);
};

test(
  'the same suite holds on the SQLite that newer Node brings along',
  { timeout: 180_000 },
  async () => {
    const temp = mkdtempSync(join(tmpdir(), 'toolkeel-newer-'));
    const report = join(temp, 'report.json');
    const vitest = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
    const suites = 'packages/journal/src/store/sqlite';
    const args = [vitest, 'run', suites, '--reporter=json', `--outputFile=${report}`];
    const child = spawn(nodeWithSqlite(), args, {
      cwd: root,
      stdio: 'ignore',
      env: withoutVitest(),
    });
    await new Promise((resolve) => child.on('close', resolve));
    const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      numPassedTests: number;
      testResults: { assertionResults: { status: string; title: string }[] }[];
    };
    const all = testResults.flatMap(({ assertionResults }) => assertionResults);
    expect(all.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(numPassedTests).toBeGreaterThan(100);
    rmSync(temp, { recursive: true });
  },
);

/** The inner run is not to take itself for a worker of this one. */
function withoutVitest(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|TINYPOOL|TEST$)/.test(name),
  );
  return Object.fromEntries(entries);
}
