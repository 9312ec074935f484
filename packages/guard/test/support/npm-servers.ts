import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const inPackage = (manifest: string, file = 'dist/index.js'): string =>
  join(dirname(manifest), file);

/** A server with hundreds of packages of its own. It has to be installed before its tests. */
export const mongodbServer = fileURLToPath(
  new URL('../../../../test/mongodb-server', import.meta.url),
);

/** Servers of other authors from npm: the program, and the arguments that it always needs. */
export const npmServers = {
  brave: [inPackage(require.resolve('@modelcontextprotocol/server-brave-search/package.json'))],
  everything: [
    inPackage(require.resolve('@modelcontextprotocol/server-everything/package.json')),
    'stdio',
  ],
  fetch: [inPackage(require.resolve('mcp-fetch-server/package.json'))],
  filesystem: [inPackage(require.resolve('@modelcontextprotocol/server-filesystem/package.json'))],
  git: [require.resolve('@cyanheads/git-mcp-server/index.js')],
  github: [inPackage(require.resolve('@modelcontextprotocol/server-github/package.json'))],
  memory: [inPackage(require.resolve('@modelcontextprotocol/server-memory/package.json'))],
  mongodb: [join(mongodbServer, 'node_modules/mongodb-mcp-server/dist/esm/index.js')],
  notion: [inPackage(require.resolve('@notionhq/notion-mcp-server/package.json'), 'bin/cli.mjs')],
  playwright: [inPackage(require.resolve('@playwright/mcp/package.json'), 'cli.js')],
  postgres: [inPackage(require.resolve('@modelcontextprotocol/server-postgres/package.json'))],
  slack: [inPackage(require.resolve('@modelcontextprotocol/server-slack/package.json'))],
  thinking: [
    inPackage(require.resolve('@modelcontextprotocol/server-sequential-thinking/package.json')),
  ],
} as const satisfies Record<string, readonly string[]>;

export type NpmServer = keyof typeof npmServers;

/** The package of a server, as its profile names it. */
export const packageOf = (name: NpmServer): string => {
  const [program] = npmServers[name];
  const [, inModules = ''] =
    /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(program.replaceAll('\\', '/')) ?? [];
  return `npm:${inModules}`;
};
