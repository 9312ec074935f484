import { defineConfig } from 'vitest/config';
import { fileURLToPath } from 'node:url';

const source = (path: string): string => fileURLToPath(new URL(`./packages/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests read the sources, so a stale build can never make a test pass.
    alias: [
      { find: /^@toolkeel\/kernel\/testing$/, replacement: source('kernel/src/testing/index.ts') },
      { find: /^@toolkeel\/(\w+)$/, replacement: source('$1/src/index.ts') },
    ],
  },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 20_000,
  },
});
