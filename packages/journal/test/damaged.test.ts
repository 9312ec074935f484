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
import { chooseDriver } from '../src/store/sqlite/choose-driver.js';
import { sqliteStore } from '../src/store/sqlite/store.js';

/** Somebody, or a disk, has changed a row. Nobody goes on with it, and everything else does. */
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

  test('is refused by itself, and marked among the others', async () => {
    const [good, bad] = [await claimed(store, next()), await claimed(store, next())];
    await damage(bad.id);
    await expect(store.get(bad.id)).rejects.toMatchObject(corrupt);
    await expect(store.list()).rejects.toMatchObject(corrupt);
    expect(await store.list({ damaged: 'shown' })).toEqual([
      { ...bad, damaged: expect.stringContaining(`Operation ${bad.id} is damaged`) as string },
      good,
    ]);
  });

  test('stops no approval but its own', async () => {
    const [bad, good] = [await waiting(bench(), next()), await waiting(bench(), next())];
    await store.decideApproval(bad.id, decision());
    await store.decideApproval(good.id, decision());
    await damage(bad.id, 'approval');
    expect(await store.takeApproved('alice', ['post'])).toMatchObject({ id: good.id });
    expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
  });

  test('does not keep others from running out', async () => {
    const [bad, good] = [await waiting(bench(), next()), await waiting(bench(), next())];
    await damage(bad.id, 'approval');
    await advance(365 * 86_400_000);
    expect(await store.expireApprovals(0)).toMatchObject([{ id: good.id }]);
  });

  test('does not keep others from being swept', async () => {
    const [bad, good] = [await claimed(store, next()), await claimed(store, next())];
    await damage(bad.id);
    await advance(LEASE);
    expect(await store.sweep()).toMatchObject([{ id: good.id, state: 'released' }]);
  });

  test('was one of many that kept the orphan sweep from all others for ever', async () => {
    const bad = await claimed(store, next());
    await damage(bad.id);
    const driver = (await chooseDriver())(join(dir, 'journal.db'), 1000);
    const copied = `account, tool, effect, identity_by, identity_value, args_hash, args, state, fence, owner, correlation_id, created_at, sends, steps`;
    driver.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) INSERT INTO operations (id, slot, ${copied}) SELECT id || i, slot || i, ${copied} FROM operations, n WHERE id = '${bad.id}'`,
    );
    driver.close();
    const good = await claimed(store, next());
    await advance(LEASE);
    expect(await store.sweep()).toMatchObject([{ id: good.id, state: 'released' }]);
  });

  test('keeps nobody from hearing what people decided elsewhere', async () => {
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

  test('keeps nobody from hearing of others', async () => {
    const bad = await settled(store, next(), unknown());
    const good = await settled(store, next(), unknown());
    await damage(bad.id);
    const told = (await store.takeNotifications(10)).map(({ operationId }) => operationId);
    expect(told).toEqual([bad.id, good.id]);
  });
});
