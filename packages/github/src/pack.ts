import type { Pack } from '@toolkeel/contract';
import type { Environment } from '@toolkeel/pack-kit/base';
import { configSchema, toolsets } from './config.js';
import { sets } from './tools/specs/index.js';

/** Process-wide state that tests replace. */
export interface RuntimeContext {
  readonly env?: Environment;
}

/** `describe` loads only the specifications, because a host lists the tools before it runs any. */
export function createGitHubPack({ env = process.env }: RuntimeContext = {}): Pack<
  typeof configSchema
> {
  return {
    name: 'github',
    configSchema,
    describe: (config) => (config?.toolsets ?? toolsets).flatMap((name) => sets[name]),
    instructions: ({ baseUrl }) =>
      `GitHub (${new URL(baseUrl).host}): repositories are "owner/name"; issues and pull requests are named by number. Continue a list with its next_token. A repeated create returns what exists.`,
    create: async (config, deps) => {
      const { createInstance } = await import('./instance.js');
      return createInstance(config, deps, env);
    },
  };
}

/** The pack of GitHub tools, for a host. */
export const github = createGitHubPack();
