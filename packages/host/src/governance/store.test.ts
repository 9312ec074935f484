import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { ConfigError } from '../errors.js';
import { loadConfig } from '../config/load.js';
import { openJournalStore, scrubbedStore } from './store.js';
import { defineTool, toolError } from '@toolkeel/contract';
import { memoryStore } from '@toolkeel/journal';
import { echoes } from '@toolkeel/pack-kit/testing';
import * as z from 'zod';
import { Secrets } from '../secret/secrets.js';
import { governed } from './governed.fixture.js';

const HOUR_MS = 3_600_000;

const load = (journal: object) =>
  loadConfig({
    cwd: tmpdir(),
    env: {},
    packs: [],
    flags: { journal: { url: 'memory:', ...journal } },
  });

const journalingOf = async (journal: object) => {
  const { store, journaling } = await openJournalStore(load(journal));
  await store.close();
  return journaling;
};

it('converts the configured periods to milliseconds', async () => {
  expect(await journalingOf({ retentionDays: 2, undeliveredHoldHours: 1.5 })).toMatchObject({
    retentionMs: 48 * HOUR_MS,
    undeliveredHoldMs: 1.5 * HOUR_MS,
  });
});

it('leaves the defaults to the journal', async () => {
  const { retentionMs, undeliveredHoldMs } = await journalingOf({});
  expect([retentionMs, undeliveredHoldMs]).toEqual([undefined, undefined]);
});

it.each([0, -1, 721, '12'])('rejects undeliveredHoldHours: %j', (undeliveredHoldHours) => {
  expect(() => load({ undeliveredHoldHours })).toThrow(ConfigError);
});

const secret = 'the "password" of the upstream';

const tool = (name: string, handler: () => unknown) =>
  defineTool({
    name,
    title: name,
    description: name,
    category: 'write',
    effect: 'once',
    send: 'explicit',
    profiles: ['api', 'workflow'],
    input: z.object({ text: z.string() }),
    output: z.object({ text: z.string() }),
    errors: ['upstream_rejected'],
    handler: async (_, { operation }) => {
      await operation?.step('first', () => Promise.resolve({ repeated: secret }));
      const write = async () => handler() as { text: string };
      return operation ? operation.send(write) : write();
    },
  });

it('stores no secret, whether an upstream, a handler or an agent repeats it', async () => {
  const secrets = new Secrets();
  secrets.watch(secret);
  const store = memoryStore();
  const echoing = tool('echo', () => ({ text: `you sent ${secret}` }));
  const refusing = tool('refuse', () =>
    toolError('upstream_rejected', `not with ${secret}`, { outcome: 'not_executed' }),
  );
  const journaling = { store: scrubbedStore(store, secrets.scrub) };
  const { call } = await governed({ tools: [echoing, refusing], done: [] }, {}, { journaling });
  expect(await call('echo', { text: 'a' })).toMatchObject({ success: true });
  expect(await call('echo', { text: 'a' })).toMatchObject({
    data: { text: 'you sent [redacted]' },
    meta: { idempotency: { replayed: true } },
  });
  await call('refuse', { text: secret });
  const stored = JSON.stringify([await store.list(), await store.auditRows(1, 100)]);
  expect(stored).toContain('[redacted]');
  expect(stored).not.toContain('password');
});

it.each(echoes)('stores no secret that an upstream repeats with $name', async ({ write }) => {
  const planted = 'tok-ABC/def+0123_456.789=';
  const secrets = new Secrets();
  secrets.watch(planted);
  const store = memoryStore();
  const echoing = tool('echo', () => ({ text: `you sent ${write(planted)}` }));
  const journaling = { store: scrubbedStore(store, secrets.scrub) };
  const { call } = await governed({ tools: [echoing], done: [] }, {}, { journaling });
  await call('echo', { text: write(planted) });
  const stored = JSON.stringify([await store.list(), await store.auditRows(1, 100)]);
  expect(stored).toContain('you sent ');
  expect(stored).toContain('[redacted]');
  expect(stored).not.toContain(JSON.stringify(JSON.stringify(write(planted))).slice(3, -3));
  expect(stored).not.toContain('tok-ABC');
});
