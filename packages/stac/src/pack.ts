import type { Pack } from '@toolkeel/contract';
import { configSchema } from './config.js';
import { instructionsFor, withCatalogNames } from './instructions.js';
import type { Resolve } from './reach/lookup.js';
import type { IsAllowed } from './reach/target.js';
import type { Environment } from './secrets.js';
import { specs } from './tools/specs/index.js';

/** What is outside of the process, for tests to replace. */
export interface RuntimeContext {
  readonly env?: Environment;
  readonly resolve?: Resolve;
  readonly isAllowed?: IsAllowed;
}

/** Describing the tools loads nothing that could run them: a host lists them before it needs them. */
export function createStacPack(runtime: RuntimeContext = {}): Pack<typeof configSchema> {
  return {
    name: 'stac',
    configSchema,
    describe: (config) => (config ? withCatalogNames(specs, config) : specs),
    instructions: instructionsFor,
    create: async (config, deps) => {
      const { createInstance } = await import('./instance.js');
      return createInstance(config, deps, runtime);
    },
  };
}

/** The pack of STAC tools, for a host. */
export const stac = createStacPack();
