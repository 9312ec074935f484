import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { newerNode } from '../../../scripts/lib/newer-node.mjs';
import { conformance } from '../../../scripts/lib/conformance.mjs';

const require = createRequire(import.meta.url);
const run = conformance(
  join(dirname(require.resolve('@modelcontextprotocol/conformance/package.json')), 'dist/index.js'),
);
const fixture = fileURLToPath(
  new URL('../dist/fixtures/conformance-server.fixture.js', import.meta.url),
);

const started: ChildProcess[] = [];

const startServer = async (node: string): Promise<string> => {
  const child = spawn(node, [fixture], { stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(child);
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the server under test ended with code ${String(code)}`);
  });
  const [line] = (await Promise.race([once(child.stdout, 'data'), failed])) as [Buffer];
  failed.catch(() => {});
  return `${line.toString().trim()}/mcp`;
};

afterAll(() => {
  for (const child of started) child.stdin?.end();
});

describe.each([
  { revision: '2025-11-25', scenarios: 30, node: 'this Node' },
  { revision: '2026-07-28', scenarios: 37, node: 'this Node' },
  { revision: '2026-07-28', scenarios: 37, node: 'a newer Node' },
])('on $node, the conformance suite of $revision', ({ revision, scenarios, node }) => {
  it(`passes all ${scenarios} required server scenarios`, { timeout: 120_000 }, async () => {
    const url = await startServer(node === 'this Node' ? process.execPath : newerNode());
    const { required, failed, code } = await run(url, revision);
    expect(required).toHaveLength(scenarios);
    expect(failed).toEqual([]);
    expect(code).toBe(0);
  });
});
