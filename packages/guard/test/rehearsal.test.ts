import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { cleanUp, newChaos, newFolder, startHttpChaos } from './support/chaos.js';
import { guardProgram, listenGuard, textIn } from './support/guarded.js';
import { rawHttp, rawStdio, type RawClient } from './support/raw-client.js';

afterAll(cleanUp);

const require = createRequire(import.meta.url);
const filesystem = join(
  dirname(require.resolve('@modelcontextprotocol/server-filesystem/package.json')),
  'dist/index.js',
);
const quick = { policy: { initialBackoffMs: 5, maxBackoffMs: 20 } };

interface Summary {
  readonly calls: number;
  readonly failed_without: number;
  readonly failed_with: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly message: string;
}

const logOf = (stderr: string, event: string): Summary[] =>
  stderr
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`))
    .map((line) => JSON.parse(line) as Summary);

const readMany = async (client: RawClient, path: string): Promise<number> => {
  let succeeded = 0;
  for (let index = 0; index < 30; index++) {
    const answer = await client.call('read_text_file', { path, head: index + 1 });
    if (textIn(answer)?.startsWith('line 0')) succeeded++;
  }
  return succeeded;
};

it.each(['stdio', 'HTTP'])(
  'a rehearsal with server-filesystem for a client on %s',
  async (face) => {
    const dir = newFolder();
    const path = join(dir, 'a.txt');
    writeFileSync(path, Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n'));
    const options = {
      upstream: { command: process.execPath, args: [filesystem, dir], ...quick },
      flags: ['--chaos', '30%', '--chaos-seed', '5'],
    };
    let [succeeded, stderr] = [0, ''];
    if (face === 'stdio') {
      const client = await rawStdio(guardProgram(options), '2025-11-25');
      succeeded = await readMany(client, path);
      expect(client.inbox.problems).toEqual([]);
      await client.close();
      stderr = client.stderr();
    } else {
      const guard = await listenGuard(options);
      const client = await rawHttp(guard.url, '2025-11-25');
      succeeded = await readMany(client, path);
      await client.close();
      await guard.stop();
      stderr = guard.stderr();
    }
    expect(logOf(stderr, 'chaos_enabled')).toMatchObject([{ rate: 0.3, seed: 5, all: false }]);
    const summary = logOf(stderr, 'chaos_summary').at(-1);
    expect(summary?.calls).toBe(30);
    expect(summary?.failed_with).toBe(30 - succeeded);
    expect(summary?.failed_without).toBeGreaterThan(4);
    expect(summary?.failed_with).toBeLessThan(summary?.failed_without ?? 0);
    expect(summary?.message).toMatch(/^Rehearsal of chaos \(rate 0.3, seed 5\): 30 calls\./);
  },
  120_000,
);

it('mutations of an HTTP server act at most once while everything fails', async () => {
  const chaos = newChaos();
  const { url } = await startHttpChaos(chaos);
  const upstream = { url, ...quick, chaos: { rate: 0.5, all: true, seed: 3, hangSecs: 0.2 } };
  const client = await rawStdio(guardProgram({ upstream }), '2025-11-25');
  const keys = Array.from({ length: 12 }, (_, index) => `key-${index}`);
  for (const key of keys) await client.call('write', { key });
  await client.close();
  for (const key of keys) expect(chaos.effects(key).length).toBeLessThanOrEqual(1);
  expect(logOf(client.stderr(), 'chaos_summary').at(-1)?.calls).toBe(12);
}, 120_000);
