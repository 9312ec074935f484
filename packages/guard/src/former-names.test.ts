import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@toolkeel/host';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { upstreamSchema } from './config.js';
import { createGuard } from './guard.js';
import { fakeUpstream, openClient, text, type FakeUpstream } from './rig.fixture.js';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'former-names-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Runs one guard after another with one journal. */
async function guarded<T>(
  names: { readonly name: string; readonly formerNames?: readonly string[] },
  upstream: FakeUpstream,
  use: (client: ReturnType<typeof openClient>, events: readonly string[]) => Promise<T>,
): Promise<T> {
  const env = { TOOLKEEL_DATA_DIR: dir };
  const events: string[] = [];
  const guard = createGuard({
    loaded: loadConfig({ env, cwd: dir }),
    env,
    ...names,
    config: upstreamSchema.parse({ command: 'unused' }),
    connect: upstream.connect,
    log: (_level, event) => void events.push(event),
  });
  try {
    const client = openClient(guard);
    const params = { protocolVersion: '2025-11-25', capabilities: {} };
    await client.ask('initialize', { ...params, clientInfo: { name: 'test', version: '1' } });
    client.send({ method: 'notifications/initialized' });
    return await use(client, events);
  } finally {
    await guard.close();
  }
}

const lost = (): FakeUpstream => fakeUpstream({ onCall: (_call, upstream) => upstream.crash() });
const working = (): FakeUpstream => fakeUpstream({ onCall: () => text('done') });
const key = { _meta: { 'dev.toolkeel/idempotency-key': 'key-0123456789abcdef' } };

it('a new default name made a second act of an operation with an unknown outcome', async () => {
  const first = await guarded({ name: 'docker' }, lost(), (client) => client.call('add', { k: 1 }));
  expect(first.result?.['structuredContent']).toMatchObject({ error: { code: 'outcome_unknown' } });

  const upstream = working();
  const renamed = { name: 'tickets-1a2b3c4d', formerNames: ['docker'] };
  const answers = await guarded(renamed, upstream, async (client) => [
    await client.call('add', { k: 1 }),
    await client.call('add', { k: 2 }),
  ]);
  expect(answers[0]?.result?.['structuredContent']).toMatchObject({
    error: { code: 'outcome_unknown' },
  });
  // Only what is held under the former name is answered from it.
  expect(upstream.calls.map(({ args }) => args)).toEqual([{ k: 2 }]);
  const other = { name: 'billing-5e6f7a8b', formerNames: ['docker'] };
  const billing = working();
  await guarded(other, billing, (client) => client.call('add', { k: 2 }));
  expect(billing.calls).toHaveLength(1);
});

it('a new default name made a second act of a key', async () => {
  await guarded({ name: 'docker' }, working(), (client) => client.call('add', { k: 1 }, key));
  const upstream = working();
  const renamed = { name: 'tickets-1a2b3c4d', formerNames: ['docker'] };
  const again = await guarded(renamed, upstream, (client) => client.call('add', { k: 1 }, key));
  expect(JSON.stringify(again.result)).toContain('done');
  expect(upstream.calls).toEqual([]);
});

it('a server with a new name trusted changed tools as if it saw them first', async () => {
  const settled = (client: ReturnType<typeof openClient>) => client.call('get');
  await guarded({ name: 'docker' }, working(), settled);
  const changed = fakeUpstream({
    tools: [{ name: 'get', description: 'other', inputSchema: { type: 'object' } }],
    onCall: () => text('done'),
  });
  const renamed = { name: 'tickets-1a2b3c4d', formerNames: ['docker'] };
  const events = await guarded(renamed, changed, async (client, logged) => {
    await settled(client);
    return logged;
  });
  expect(events).toContain('guard_tools_changed');
});
