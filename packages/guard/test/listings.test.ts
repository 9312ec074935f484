import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '@toolkeel/host';
import { expect, it } from 'vitest';
import { hintsDetails, hintsTable, listings } from '../../../scripts/lib/hints.mjs';
import { upstreamSchema } from '../src/config.js';
import { inspectUpstream } from '../src/inspect.js';
import { npmServers, type NpmServer } from './support/npm-servers.js';

it('the table of known servers in the documentation is up to date', () => {
  const page = readFileSync(
    fileURLToPath(new URL('../../../docs/guard-servers.md', import.meta.url)),
    'utf8',
  );
  // After a change: npm run guard:servers -- --write
  expect(page).toContain(hintsTable());
  expect(page).toContain(hintsDetails());
});

const packages: Readonly<Record<NpmServer, string>> = {
  everything: 'npm:@modelcontextprotocol/server-everything',
  filesystem: 'npm:@modelcontextprotocol/server-filesystem',
  memory: 'npm:@modelcontextprotocol/server-memory',
  thinking: 'npm:@modelcontextprotocol/server-sequential-thinking',
  git: 'npm:@cyanheads/git-mcp-server',
};

it.each(Object.entries(packages) as [NpmServer, string][])(
  'the recorded listing of %s is what the server lists',
  async (name, from) => {
    const recorded = listings().find((listing) => listing.package === from);
    const dir = mkdtempSync(join(tmpdir(), 'guard-listing-'));
    try {
      const env = { PATH: process.env['PATH'], HOME: dir, TOOLKEEL_DATA_DIR: join(dir, 'data') };
      const { server, tools, profile, warnings } = await inspectUpstream(
        {
          loaded: loadConfig({ env, cwd: dir, settings: { journal: { url: 'memory:' } } }),
          name,
          config: upstreamSchema.parse({
            command: process.execPath,
            args: [...npmServers[name], dir],
          }),
          env,
        },
        60_000,
      );
      expect(server).toEqual(recorded?.server);
      expect([profile, warnings]).toEqual([from, []]);
      const listed = tools.map(({ listed: { name: tool, annotations = {}, inputSchema } }) => ({
        name: tool,
        annotations: Object.fromEntries(
          Object.entries(annotations).filter(([hint]) => hint !== 'title'),
        ),
        arguments: Object.keys((inputSchema?.['properties'] as object | undefined) ?? {}),
      }));
      expect(listed).toEqual(recorded?.tools);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
);
