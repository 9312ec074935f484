import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const programBeside = (manifest: string): string => join(dirname(manifest), 'dist/index.js');

/** The programs of servers of other authors, from npm. */
export const npmServers = {
  everything: [
    programBeside(require.resolve('@modelcontextprotocol/server-everything/package.json')),
    'stdio',
  ],
  filesystem: [
    programBeside(require.resolve('@modelcontextprotocol/server-filesystem/package.json')),
  ],
  memory: [programBeside(require.resolve('@modelcontextprotocol/server-memory/package.json'))],
  thinking: [
    programBeside(require.resolve('@modelcontextprotocol/server-sequential-thinking/package.json')),
  ],
  git: [require.resolve('@cyanheads/git-mcp-server/index.js')],
} as const satisfies Record<string, readonly string[]>;

export type NpmServer = keyof typeof npmServers;
