import type { Pack } from '@toolkeel/contract';
import type { Environment } from '@toolkeel/pack-kit/base';
import { configSchema } from './config.js';
import { specs } from './tools/specs/index.js';

/** Process-wide state that tests replace. */
export interface RuntimeContext {
  readonly env?: Environment;
  /** How long a call searches for a post with an unknown outcome. */
  readonly readBackMs?: number;
}

/** `describe` loads only the specifications, because a host lists the tools before it runs any. */
export function createXPack(context: RuntimeContext = {}): Pack<typeof configSchema> {
  return {
    name: 'x',
    configSchema,
    describe: () => specs,
    create: async (config, deps) => {
      const { createInstance } = await import('./instance.js');
      return createInstance(config, deps, context);
    },
  };
}

/** The pack of X tools, for a host. */
export const x = createXPack();
