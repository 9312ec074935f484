import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readAudit, verifyAudit, type JournalStore } from '@toolkeel/journal';
import { testJournal, type TestJournal } from '@toolkeel/journal/testing';
import {
  claimed,
  DAY,
  fencingToken,
  owner,
  plain,
  request,
  sending,
  success,
} from '../src/store/contract/harness.fixture.js';
import { postgresStore } from '../src/store/postgres/store.js';
import { proxyTo, type Proxy } from './support/proxy.js';

/** A connection that breaks at critical moments, to a real server. */
describe('a journal in PostgreSQL, over a connection that breaks', () => {
  let journal: TestJournal;
  let witness: JournalStore;
  let proxy: Proxy;
  let store: JournalStore;

  beforeAll(async () => {
    journal = await testJournal();
    witness = await postgresStore({ url: journal.url });
  }, 120_000);
  afterAll(async () => {
    await witness.close();
    await journal.drop();
  });
  beforeEach(async () => {
    proxy = await proxyTo(journal.url);
    store = await postgresStore({ url: proxy.url, patienceMs: 600 });
    await store.registerOwner(owner(), DAY);
  });
  afterEach(async () => {
    proxy.fromClient = proxy.fromServer = () => 'pass';
    await store.close();
    proxy.close();
  });

  const tool = (): { tool: string } => ({ tool: `tool-${Math.random()}` });
  const isCommit = (data: Buffer): boolean => data.includes('COMMIT\0');
  /** Breaks the connection once, when the server has answered this many COMMITs. */
  const loseAnswerOfCommit = (): void => {
    let isAsked = false;
    proxy.fromClient = (data) => {
      isAsked ||= isCommit(data);
      return 'pass';
    };
    proxy.fromServer = () => {
      if (!isAsked) return 'pass';
      proxy.fromClient = proxy.fromServer = () => 'pass';
      return 'cut';
    };
  };
  const loseCommit = (): void => {
    proxy.fromClient = (data) => {
      if (!isCommit(data)) return 'pass';
      proxy.fromClient = () => 'pass';
      return 'cut';
    };
  };

  test.each([
    ['the answer to COMMIT', loseAnswerOfCommit],
    ['COMMIT itself', loseCommit],
  ])('loses %s: claim, send and settle are still what they are', async (_, lose) => {
    lose();
    const operation = await claimed(store, tool());
    expect(await witness.get(operation.id)).toEqual(operation);
    lose();
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('sent');
    lose();
    expect(await store.settle(fencingToken(operation), success())).toBe(true);
    expect(await witness.get(operation.id)).toMatchObject({ state: 'succeeded' });
    const rows = (await witness.auditRows(1, 1000)).filter(
      ({ operationId }) => operationId === operation.id,
    );
    expect(rows.map(({ kind }) => kind)).toEqual(['send', 'settled']);
    expect((await verifyAudit(readAudit(witness))).problems).toEqual([]);
  });

  test('breaks during a transaction: nothing is applied twice or partially', async () => {
    const operation = await claimed(store, tool());
    let cuts = 0;
    proxy.fromClient = (data) => (data.includes('audit_head') && cuts++ < 2 ? 'cut' : 'pass');
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('sent');
    expect(cuts).toBeGreaterThan(1);
    expect(await witness.get(operation.id)).toMatchObject({ state: 'sending' });
  });

  test('is lost after COMMIT: the error says that the result is unknown', async () => {
    const wanted = tool();
    let isGone = false;
    proxy.fromClient = (data) => {
      isGone ||= isCommit(data);
      return isGone && !isCommit(data) ? 'cut' : 'pass';
    };
    proxy.fromServer = () => (isGone ? 'cut' : 'pass');
    const error: unknown = await store.claim(request(wanted)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'unavailable', maybeDone: true });
    expect(String(error)).toContain('it is not known whether it was');
    // It was: its owner's lease will expire and release the dedup key.
    expect(await witness.list(wanted)).toMatchObject([{ state: 'claimed' }]);
  });

  test('drops everything: no call waits forever', async () => {
    const operation = await sending(store, tool());
    proxy.fromClient = proxy.fromServer = () => 'swallow';
    await expect(store.settle(fencingToken(operation), success())).rejects.toMatchObject({
      reason: 'unavailable',
    });
    await expect(store.get(operation.id)).rejects.toMatchObject({ reason: 'unavailable' });
    proxy.fromClient = proxy.fromServer = () => 'pass';
    expect(await store.settle(fencingToken(operation), success())).toBe(true);
  });

  test.each(['cut', 'swallow'] as const)(
    '%ss the notification that a waiter needs',
    async (verdict) => {
      const operation = await sending(store, tool());
      const waiting = store.wait(operation.id, AbortSignal.timeout(10_000));
      proxy.fromServer = (data) => (data.includes('ended:') ? verdict : 'pass');
      await witness.settle(fencingToken(operation), success());
      expect(await waiting).toMatchObject({ state: 'succeeded' });
    },
  );
});
