import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The packages of servers of other authors, from npm. */
export const npmPackages = {
  brave: '@modelcontextprotocol/server-brave-search',
  everything: '@modelcontextprotocol/server-everything',
  fetch: 'mcp-fetch-server',
  filesystem: '@modelcontextprotocol/server-filesystem',
  git: '@cyanheads/git-mcp-server',
  github: '@modelcontextprotocol/server-github',
  memory: '@modelcontextprotocol/server-memory',
  notion: '@notionhq/notion-mcp-server',
  playwright: '@playwright/mcp',
  postgres: '@modelcontextprotocol/server-postgres',
  slack: '@modelcontextprotocol/server-slack',
  thinking: '@modelcontextprotocol/server-sequential-thinking',
} as const;

export type NpmServer = keyof typeof npmPackages;

const inPackage = (name: NpmServer, file = 'dist/index.js'): string =>
  join(dirname(require.resolve(`${npmPackages[name]}/package.json`)), file);

/** Their programs, with the arguments that they always need. */
export const npmServers: Readonly<Record<NpmServer, readonly string[]>> = {
  brave: [inPackage('brave')],
  everything: [inPackage('everything'), 'stdio'],
  fetch: [inPackage('fetch')],
  filesystem: [inPackage('filesystem')],
  git: [require.resolve(`${npmPackages.git}/index.js`)],
  github: [inPackage('github')],
  memory: [inPackage('memory')],
  notion: [inPackage('notion', 'bin/cli.mjs')],
  playwright: [inPackage('playwright', 'cli.js')],
  postgres: [inPackage('postgres')],
  slack: [inPackage('slack')],
  thinking: [inPackage('thinking')],
};
