import { configDefaults, defineConfig } from 'vitest/config';
import { sourceOf, workspacePackages } from './test/support/workspace.js';

const longSuites = '**/*.long.test.ts';

export default defineConfig(({ mode }) => ({
  resolve: {
    // Tests read the sources, so a stale build can never make a test pass.
    alias: workspacePackages().flatMap((pkg) =>
      sourceOf(pkg).map(({ specifier, file }) => ({
        find: new RegExp(`^${specifier}$`),
        replacement: file,
      })),
    ),
  },
  test: {
    include:
      mode === 'long'
        ? [longSuites]
        : ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, '**/dist/**', ...(mode === 'long' ? [] : [longSuites])],
    testTimeout: mode === 'long' ? 600_000 : 20_000,
  },
}));
