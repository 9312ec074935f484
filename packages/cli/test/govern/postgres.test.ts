import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster, type Cluster } from '@toolkeel/journal/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lineWith } from '../support/cap.js';
import { useShop } from '../support/shop.js';

const { configure, serve, command } = useShop();
const place = mkdtempSync(join(tmpdir(), 'toolkeel-fsync-'));
let cluster: Cluster;
// A test cluster without durability.
beforeAll(async () => void (cluster = await startCluster(place, process.pid)), 120_000);
afterAll(async () => {
  await cluster.kill();
  rmSync(place, { recursive: true });
});

it('a database without fsync causes a warning at startup and in doctor', async () => {
  configure({ profile: 'api', journal: { url: cluster.url } });
  const server = await serve();
  expect(await server.call('shop_order', { item: 'tea' })).toMatchObject({ success: true });
  const line = await lineWith('journal_not_durable', server.stderr);
  expect(line).toMatchObject({ level: 'warn', message: expect.stringContaining('fsync = off') });
  expect((await command('doctor')).out).toMatch(/^warn +journal .*\n.*fsync = off/m);
});
