import type { Pack } from '@toolkeel/contract';
import type { Environment } from '@toolkeel/pack-kit/base';
import { configSchema } from './config.js';
import { specs } from './tools/specs.js';

/** Process-wide state that tests replace. */
export interface RuntimeContext {
  readonly env?: Environment;
}

/** `describe` loads only the specifications, because a host lists the tools before it runs any. */
export function createLlmPack({ env = process.env }: RuntimeContext = {}): Pack<
  typeof configSchema
> {
  return {
    name: 'llm',
    configSchema,
    providesModel: true,
    describe: () => specs,
    create: async (config, deps) => {
      const { createInstance } = await import('./instance.js');
      return createInstance(config, deps, env);
    },
  };
}

/** The pack of language-model tools, for a host. */
export const llm = createLlmPack();
