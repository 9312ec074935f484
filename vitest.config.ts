import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.js';
import { runtimeSuites } from './test/support/runtime-suites.js';
import { sourceAliases } from './test/support/workspace.js';

const longSuites = '**/*.long.test.ts';
const suitesOf: Readonly<Record<string, readonly string[]>> = {
  long: [longSuites],
  runtime: runtimeSuites,
  screenshots: ['packages/console/test/screenshots.ts'],
  incident: ['packages/console/test/incident.ts'],
};

export default defineConfig(({ mode }) => ({
  resolve: {
    // Tests read the sources, so a stale build can never make a test pass.
    alias: sourceAliases(),
  },
  test: {
    include: [
      ...(suitesOf[mode] ?? [
        'packages/*/src/**/*.test.ts',
        'packages/*/test/**/*.test.ts',
        'test/**/*.test.ts',
      ]),
    ],
    // For suites of which only a part depends on the runtime.
    env: { TOOLKEEL_TEST_MODE: mode },
    setupFiles: ['test/support/real-time.ts', 'test/support/fixed-seed.ts'],
    exclude: [...configDefaults.exclude, '**/dist/**', ...(mode === 'long' ? [] : [longSuites])],
    // A fresh process for every file took twice as long as the tests. Suites keep no state of their own
    // outside of their tests, so they can follow each other in one.
    pool: 'forks',
    isolate: false,
    // Many suites wait for processes and timers. One worker more than processors keeps the machine busy meanwhile.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Timeouts end what hangs. They are no measure of speed: on a busy machine everything takes longer.
    testTimeout: mode === 'long' ? 600_000 : 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
}));
