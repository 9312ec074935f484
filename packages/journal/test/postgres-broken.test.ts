import { readAudit, verifyAudit, type JournalStore } from '@toolkeel/journal';
import { testJournal, type TestJournal } from '@toolkeel/journal/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  byContent,
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

/** A real server behind a connection that breaks at the worst moments. */
describe('a journal in PostgreSQL, over a connection that breaks', () => {
  let journal: TestJournal;
  let observer: JournalStore;
  let proxy: Proxy;
  let store: JournalStore;

  beforeAll(async () => {
    journal = await testJournal();
    observer = await postgresStore({ url: journal.url });
  }, 120_000);
  afterAll(async () => {
    await observer.close();
    await journal.drop();
  });
  beforeEach(async () => {
    proxy = await proxyTo(journal.url);
    store = await postgresStore({ url: proxy.url, timeoutMs: 1500 });
    await store.registerOwner(owner(), DAY);
  });
  afterEach(async () => {
    proxy.fromClient = proxy.fromServer = () => 'pass';
    await store.close();
    proxy.close();
  });

  const tool = (): { tool: string } => ({ tool: `tool-${Math.random()}` });
  /** The tag of the answer to what commits: COMMIT, or a statement that is a transaction by itself. */
  const commitTag = (data: Buffer): string | undefined => {
    if (data.includes('COMMIT\0')) return 'COMMIT\0';
    if (!data.includes('RETURNING txid_current()')) return undefined;
    return data.includes('may_claim') ? 'INSERT 0 1\0' : 'SELECT 1\0';
  };
  /** Breaks the connection once, at the first answer after a commit was sent that meets the condition. */
  const loseAnswer = (isLost: (data: Buffer, tag: string) => boolean): void => {
    let asked: object | undefined;
    let tag: string | undefined;
    proxy.fromClient = (data, connection) => {
      tag ??= commitTag(data);
      if (tag !== undefined) asked ??= connection;
      return 'pass';
    };
    proxy.fromServer = (data, connection) => {
      if (connection !== asked || !isLost(data, tag!)) return 'pass';
      proxy.fromClient = proxy.fromServer = () => 'pass';
      return 'cut';
    };
  };
  const loseAnswerOfCommit = (): void => loseAnswer((data, tag) => data.includes(tag));
  /** The server may be interrupted before it has committed. */
  const loseFirstAnswer = (): void => loseAnswer(() => true);
  const loseCommit = (): void => {
    proxy.fromClient = (data) => {
      if (commitTag(data) === undefined) return 'pass';
      proxy.fromClient = () => 'pass';
      return 'cut';
    };
  };

  test.each([
    ['the answer to COMMIT', loseAnswerOfCommit],
    ['all answers', loseFirstAnswer],
    ['COMMIT itself', loseCommit],
  ])('that loses %s: claim, send and settle are stored once', async (_, lose) => {
    lose();
    const operation = await claimed(store, tool());
    expect(await observer.get(operation.id)).toEqual(operation);
    lose();
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('sent');
    lose();
    expect(await store.settle(fencingToken(operation), success())).toBe(true);
    expect(await observer.get(operation.id)).toMatchObject({ state: 'succeeded' });
    const rows = (await observer.auditRows(1, 1000)).filter(
      ({ operationId }) => operationId === operation.id,
    );
    expect(rows.map(({ kind }) => kind)).toEqual(['send', 'settled']);
    expect((await verifyAudit(readAudit(observer))).problems).toEqual([]);
  });

  test.each([
    ['the answer to COMMIT', loseAnswerOfCommit],
    ['all answers', loseFirstAnswer],
    ['COMMIT itself', loseCommit],
  ])('that loses %s of a group: every call gets its own result', async (_, lose) => {
    const wanted = tool();
    const act = (value: string) =>
      request({ ...wanted, dedupKey: byContent(value), content: value });
    lose();
    const first = await Promise.all(['a', 'b', 'a', 'c', 'b'].map((it) => store.claim(act(it))));
    expect(first.map(({ kind }) => kind).toSorted()).toEqual([
      'held',
      'held',
      ...Array(3).fill('mine'),
    ]);
    const stored = await observer.list(wanted);
    const mine = first.flatMap(({ kind, operation }) => (kind === 'mine' ? [operation] : []));
    expect(stored.map(({ id }) => id).toSorted()).toEqual(mine.map(({ id }) => id).toSorted());

    // One of them was changed by another process meanwhile, so its send is refused.
    const [taken, ...own] = mine;
    await observer.settle(
      fencingToken(taken!),
      success({ state: 'released', outcome: 'not_executed' }),
    );
    lose();
    const sent = await Promise.all(mine.map((it) => store.send(fencingToken(it), plain)));
    expect(sent.map(({ kind }) => kind)).toEqual(['lost', 'sent', 'sent']);
    lose();
    const settled = await Promise.all(mine.map((it) => store.settle(fencingToken(it), success())));
    expect(settled).toEqual([false, true, true]);
    const rows = await observer.auditRows(1, 10_000);
    for (const { id } of own) {
      const kinds = rows.filter((row) => row.operationId === id).map(({ kind }) => kind);
      expect(kinds).toEqual(['send', 'settled']);
    }
    expect((await verifyAudit(readAudit(observer))).problems).toEqual([]);
  });

  test('that breaks during a transaction: nothing is executed twice or partially', async () => {
    const operation = await claimed(store, tool());
    let cuts = 0;
    proxy.fromClient = (data) =>
      /append_audit|audit_pending/.test(data.toString()) && cuts++ < 2 ? 'cut' : 'pass';
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('sent');
    expect(cuts).toBeGreaterThan(1);
    expect(await observer.get(operation.id)).toMatchObject({ state: 'sending' });
  });

  test('that is lost for good after COMMIT: the error reports an unknown result', async () => {
    const wanted = tool();
    let [isAsked, isGone] = [false, false];
    proxy.fromClient = (data) => {
      isAsked ||= data.includes(wanted.tool);
      return isGone ? 'cut' : 'pass';
    };
    proxy.fromServer = (data) => {
      isGone ||= isAsked && data.includes('INSERT 0 1\0');
      return isGone ? 'cut' : 'pass';
    };
    const error: unknown = await store.claim(request(wanted)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'unavailable', maybeDone: true });
    expect(String(error)).toContain('it is unknown whether the change was stored');
    // It was stored; it is released when the lease of its owner expires.
    expect(await observer.list(wanted)).toMatchObject([{ state: 'claimed' }]);
  });

  test('that drops everything: every call ends in time', async () => {
    const operation = await sending(store, tool());
    proxy.fromClient = proxy.fromServer = () => 'swallow';
    await expect(store.settle(fencingToken(operation), success())).rejects.toMatchObject({
      reason: 'unavailable',
    });
    await expect(store.get(operation.id)).rejects.toMatchObject({ reason: 'unavailable' });
    proxy.fromClient = proxy.fromServer = () => 'pass';
    expect(await store.settle(fencingToken(operation), success())).toBe(true);
  });

  test.each(['cut', 'swallow'] as const)('%ss the wakeup of a waiting caller', async (verdict) => {
    const operation = await sending(store, tool());
    const waiting = store.wait(operation.id, AbortSignal.timeout(10_000));
    proxy.fromServer = (data) => (data.includes('ended:') ? verdict : 'pass');
    await observer.settle(fencingToken(operation), success());
    expect(await waiting).toMatchObject({ state: 'succeeded' });
  });
});
