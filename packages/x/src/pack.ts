import type { Pack } from '@toolkeel/contract';
import { configSchema } from './config.js';
import type { Environment } from './secrets.js';
import { specs } from './tools/specs/index.js';

/** What is outside of the process, for tests to replace. */
export interface RuntimeContext {
  readonly env?: Environment;
}

/** Describing the tools loads nothing that could run them: a host lists them before it needs them. */
export function createXPack({ env = process.env }: RuntimeContext = {}): Pack<typeof configSchema> {
  return {
    name: 'x',
    configSchema,
    describe: () => specs,
    create: async (config, deps) => {
      const { createInstance } = await import('./instance.js');
      return createInstance(config, deps, env);
    },
  };
}

/** The pack of X tools, for a host. */
export const x = createXPack();
