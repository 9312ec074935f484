import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JournalStore } from '@toolkeel/journal';
import {
  createOwnDecisions,
  watchOperatorDecisions,
} from '../src/background/operator-decisions.js';
import { decision, waiting } from '../src/store/contract/approvals.fixture.js';
import {
  byContent,
  claimed,
  LEASE,
  newId,
  owner,
  settled,
  unknown,
  type Bench,
} from '../src/store/contract/harness.fixture.js';
import { chooseDriver } from '../src/store/sqlite/drivers.js';
import { sqliteStore } from '../src/store/sqlite/store.js';

/** A row was tampered with or damaged. No process resumes it, and every other operation continues. */
describe.each([
  ['cannot be read', '{'],
  ['is of another kind', '7'],
])('one operation whose JSON %s', (_, junk) => {
  let dir: string;
  let store: JournalStore;
  let now = Date.UTC(2026, 0, 1);
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-damaged-'));
    store = await sqliteStore({ path: join(dir, 'journal.db'), now: () => now });
    await store.registerOwner(owner(), LEASE);
  });
  afterEach(async () => {
    await store.close();
    rmSync(dir, { recursive: true });
  });

  const advance = async (ms: number) => void (now += ms);
  const bench = (): Bench => ({
    store,
    advance,
    another: async () => store,
    close: async () => {},
  });
  const next = () => ({ dedupKey: byContent(newId()) });
  const damage = async (id: string, column: 'steps' | 'approval' = 'steps') => {
    const driver = (await chooseDriver())(join(dir, 'journal.db'), 1000);
    driver.exec(`UPDATE operations SET ${column} = '${junk}' WHERE id = '${id}'`);
    driver.close();
  };
  const corrupt = { name: 'JournalError', reason: 'corrupt' };

  test('is refused on its own, and marked in lists', async () => {
    const [good, bad] = [await claimed(store, next()), await claimed(store, next())];
    await damage(bad.id);
    await expect(store.get(bad.id)).rejects.toMatchObject(corrupt);
    await expect(store.list()).rejects.toMatchObject(corrupt);
    expect(await store.list({ damaged: 'shown' })).toEqual([
      { ...bad, damaged: expect.stringContaining(`Operation ${bad.id} is damaged`) as string },
      good,
    ]);
  });

  test('blocks only its own approval', async () => {
    const [bad, good] = [await waiting(bench(), next()), await waiting(bench(), next())];
    await store.decideApproval(bad.id, decision());
    await store.decideApproval(good.id, decision());
    await damage(bad.id, 'approval');
    expect(await store.takeApproved('alice', ['post'])).toMatchObject({ id: good.id });
    expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
  });

  test('does not keep other approvals from expiring', async () => {
    const [bad, good] = [await waiting(bench(), next()), await waiting(bench(), next())];
    await damage(bad.id, 'approval');
    await advance(365 * 86_400_000);
    expect(await store.expireApprovals(0)).toMatchObject([{ id: good.id }]);
  });

  test('does not keep other operations from being swept', async () => {
    const [bad, good] = [await claimed(store, next()), await claimed(store, next())];
    await damage(bad.id);
    await advance(LEASE);
    expect(await store.sweep()).toMatchObject([{ id: good.id, state: 'released' }]);
  });

  test('was one of many that blocked the sweep of all others forever', async () => {
    const bad = await claimed(store, next());
    await damage(bad.id);
    const driver = (await chooseDriver())(join(dir, 'journal.db'), 1000);
    const copied = `account, tool, effect, dedup_key_by, dedup_key_value, args_hash, args, state, fence, owner, correlation_id, created_at, sends, steps`;
    driver.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) INSERT INTO operations (id, dedup_key, ${copied}) SELECT id || i, dedup_key || i, ${copied} FROM operations, n WHERE id = '${bad.id}'`,
    );
    driver.close();
    const good = await claimed(store, next());
    await advance(LEASE);
    expect(await store.sweep()).toMatchObject([{ id: good.id, state: 'released' }]);
  });

  test('does not block the events of operator decisions', async () => {
    const told: unknown[] = [];
    const causes: unknown[] = [];
    const pass = watchOperatorDecisions({
      store,
      emit: (_, { id, correlationId }) => told.push({ operationId: id, correlationId }),
      report: (cause) => causes.push(cause),
      ownDecisions: createOwnDecisions(),
    });
    await pass();
    const [bad, good] = [await waiting(bench(), next()), await waiting(bench(), next())];
    for (const { id } of [bad, good]) await store.decideApproval(id, decision());
    await damage(bad.id);
    await pass();
    await pass();
    expect(told).toEqual(
      [bad, good].map(({ id, correlationId }) => ({ operationId: id, correlationId })),
    );
    expect(causes).toMatchObject([corrupt]);
  });

  test('does not block the notifications of others', async () => {
    const bad = await settled(store, next(), unknown());
    const good = await settled(store, next(), unknown());
    await damage(bad.id);
    const told = (await store.takeNotifications(10)).map(({ operationId }) => operationId);
    expect(told).toEqual([bad.id, good.id]);
  });
});
