import {
  acceptControls,
  defineTool,
  runTool,
  type Middleware,
  type Tool,
} from '@toolkeel/contract';
import {
  createJournal,
  ephemeralEncryption,
  type Journal,
  type JournalStore,
} from '@toolkeel/journal';
import { testJournal } from '@toolkeel/journal/testing';
import { systemClock } from '@toolkeel/kernel';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { postgresStore } from '../src/store/postgres/store.js';
import { tablesOf, type PostgresTables } from './support/postgres-tables.js';

const HOUR = 3_600_000;
const post = acceptControls(
  defineTool({
    name: 'post',
    title: 'Post',
    description: 'Publishes a text.',
    category: 'write',
    effect: 'once',
    profiles: ['workflow'],
    input: z.object({ text: z.string() }),
    output: z.object({ text: z.string() }),
    errors: [],
    handler: ({ text }) => ({ text }),
  }) as Tool,
);

let store: JournalStore;
let tables: PostgresTables;
let journal: Journal;
let drop: () => Promise<void>;

beforeAll(async () => {
  const given = await testJournal();
  store = await postgresStore({ url: given.url });
  tables = await tablesOf(given);
  // From here the server's clock stands still, far from that of this process.
  await tables.stopClock();
  drop = given.drop;
  journal = createJournal({
    store,
    encryption: ephemeralEncryption(),
    clock: { ...systemClock, wallNow: () => Date.UTC(2035, 5, 1) },
    tools: { specs: () => [post], load: () => post },
    decide: ({ args }, { approved }) =>
      args['text'] === 'delicate' && !approved
        ? { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: HOUR }
        : { kind: 'allow', limits: [{ name: 'hourly', max: 2, windowMs: HOUR }] },
  });
}, 120_000);

afterAll(async () => {
  await journal.close();
  await store.close();
  await tables.close();
  await drop();
});

/** The test records deliveries itself, because their marks would arrive in real time. */
const scope = {
  meta: {},
  signal: new AbortController().signal,
  deadline: Infinity,
  hold: () => undefined,
};
const call = async (text: string) => {
  const middleware: Middleware = (accepted, next) => journal.middleware(accepted, next, scope);
  return (await runTool(post, { text }, { middleware })).envelope;
};
const newest = async () => (await store.list({ limit: 1 }))[0]!;
const iso = (ms: number) => new Date(ms).toISOString();

test('on PostgreSQL the server’s clock decides what expires, and not that of a process', async () => {
  const now = await store.now();
  expect(await call('hello')).toMatchObject({ success: true });
  const { id } = await newest();
  expect(await store.get(id)).toMatchObject({
    createdAt: now,
    settledAt: now,
    heldUntil: now + 12 * HOUR,
  });
  await store.markDelivered([{ id, agoMs: 0 }]);
  expect(await store.get(id)).toMatchObject({ deliveredAt: now, heldUntil: now + 30_000 });
  const [lease] = await tables.query('SELECT lease_until, beat_at FROM owners');
  expect(lease).toEqual({ lease_until: `${now + 15_000}`, beat_at: `${now}` });

  const asked = await call('delicate');
  const expires = iso(now + HOUR);
  expect(asked.error).toMatchObject({
    code: 'approval_required',
    details: { expires_at: expires },
  });
  const waiting = await newest();
  expect(waiting.approval?.expiresAt).toBe(now + HOUR);
  expect(waiting.answer).toContain(`"expires_at":"${expires}"`);

  // A repeat within all windows; a new operation after them, when the lease has expired as well.
  expect((await call('hello')).meta.idempotency).toMatchObject({ replayed: true });
  expect(await store.expireApprovals(0)).toEqual([]);
  await tables.advance(30_000);
  expect((await call('hello')).meta.idempotency).toMatchObject({ replayed: false });
  expect((await call('third')).error).toMatchObject({
    code: 'policy_denied_rate_limited',
    retry_after_ms: HOUR - 30_000,
  });
  await tables.advance(HOUR - 30_000);
  expect(await call('third')).toMatchObject({ success: true });
  expect(await store.expireApprovals(0)).toMatchObject([{ id: waiting.id, state: 'expired' }]);
});

test('on PostgreSQL the clocks of processes need not agree', async () => {
  await tables.query(
    `INSERT INTO owners (id, host, pid, started_at, tools, lease_until, beat_at)
     VALUES ('skewed', 'there', 1, '', '[]', 9000000000000, 9000000000000)`,
  );
  await tables.advance(HOUR);
  expect(await call('fourth')).toMatchObject({ success: true });
});
