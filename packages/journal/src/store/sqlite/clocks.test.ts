import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rig } from '../../fixtures/rig.fixture.js';
import {
  byContent,
  claimed,
  fencingToken,
  LEASE,
  owner,
  plain,
  request,
  sending,
  success,
} from '../contract/harness.fixture.js';
import type { JournalStore } from '../store.js';
import { sqliteStore } from './store.js';

const START = Date.UTC(2026, 0, 1);
const HOST = 'here';

describe('processes that share a journal in SQLite', () => {
  let dir: string;
  /** The true time, and the clock error of each process by its pid. */
  let time: number;
  let wrongBy: Record<number, number>;
  const opened: JournalStore[] = [];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-clocks-'));
    [time, wrongBy] = [START, {}];
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    rmSync(dir, { recursive: true });
  });

  const selfOf = (pid: number) => ({ host: HOST, pid, startedAt: `t${pid}` });
  const open = async (pid: number): Promise<JournalStore> => {
    const store = await sqliteStore({
      path: join(dir, 'journal.db'),
      now: () => time + (wrongBy[pid] ?? 0),
      elapsed: () => time,
      processes: { self: () => selfOf(pid), isRunning: () => true },
    });
    opened.push(store);
    return store;
  };
  const registerOwner = (store: JournalStore, id: string, pid: number) =>
    store.registerOwner({ ...owner(id), ...selfOf(pid) }, LEASE);
  const skew = {
    name: 'JournalError',
    reason: 'clock',
    message: expect.stringMatching(/\(pid 2 on here\).*\(pid 1 on here\)/) as string,
  };
  const next = (by: string, value: string) => request({ owner: by, dedupKey: byContent(value) });

  test('claim nothing while their clocks differ, and continue when they agree', async () => {
    const [one, two] = [await open(1), await open(2)];
    await registerOwner(one, 'alice', 1);
    await registerOwner(two, 'bob', 2);
    const begun = await claimed(two, next('bob', 'begun'));
    const sent = await sending(two, next('bob', 'sent'));

    wrongBy[2] = -8000;
    await expect(two.renew('bob', LEASE)).rejects.toMatchObject(skew);
    await expect(two.claim(next('bob', 'new'))).rejects.toMatchObject(skew);
    await expect(two.send(fencingToken(begun), plain)).rejects.toMatchObject(skew);
    await expect(two.takeApproved('bob', ['post'])).rejects.toMatchObject(skew);
    // Results are still accepted, because only this process knows them.
    expect(await two.settle(fencingToken(sent), success())).toBe(true);

    // Both refuse, because it is unknown which clock is right.
    time += 1000;
    await expect(one.renew('alice', LEASE)).rejects.toMatchObject({ reason: 'clock' });
    await expect(one.claim(next('alice', 'new'))).rejects.toMatchObject({ reason: 'clock' });

    wrongBy[2] = 0;
    expect(await two.renew('bob', LEASE)).toBe(true);
    expect(await one.renew('alice', LEASE)).toBe(true);
    expect((await two.send(fencingToken(begun), plain)).kind).toBe('sent');
    expect((await one.claim(next('alice', 'new'))).kind).toBe('mine');
  });

  test.each([60_000, -60_000])(
    'take no claims from each other if one starts with a clock that is wrong by %i ms',
    async (difference) => {
      const one = await open(1);
      await registerOwner(one, 'alice', 1);
      const begun = await claimed(one);
      const sent = await sending(one, { dedupKey: byContent('sent') });
      time += 4000;

      wrongBy[2] = difference;
      const two = await open(2);
      // Before it has registered, as in the background work of an idle server.
      if (difference > 0) await expect(two.sweep()).rejects.toMatchObject(skew);
      await registerOwner(two, 'bob', 2);
      await expect(two.claim(request({ owner: 'bob' }))).rejects.toMatchObject(skew);
      if (difference > 0) await expect(two.sweep()).rejects.toMatchObject(skew);
      expect(await one.get(begun.id)).toEqual(begun);
      expect(await one.get(sent.id)).toMatchObject({ state: 'sending', owner: 'alice' });
    },
  );

  test('register again if a clock was set and their lease expired', async () => {
    const [one, two] = [await open(1), await open(2)];
    await registerOwner(one, 'alice', 1);
    await registerOwner(two, 'bob', 2);
    wrongBy[2] = 60_000;
    expect(await two.renew('bob', LEASE)).toBe(false);
    await registerOwner(two, 'bob_2', 2);
    await expect(two.claim(next('bob_2', 'new'))).rejects.toMatchObject(skew);
    // The others see the new heartbeat.
    await expect(one.renew('alice', LEASE)).rejects.toMatchObject({ reason: 'clock' });
    wrongBy[2] = 0;
    expect(await two.renew('bob_2', LEASE)).toBe(true);
    expect(await one.renew('alice', LEASE)).toBe(true);
    // Former ids of a running process are ignored.
    await one.deregisterOwner('alice');
    time += LEASE - 1;
    expect(await two.renew('bob_2', LEASE)).toBe(true);
    time += 1;
    const three = await open(3);
    await registerOwner(three, 'carol', 3);
    expect((await three.claim(next('carol', 'new'))).kind).toBe('mine');
  });

  test('lose their claims to the others when their lease expires', async () => {
    const [one, two] = [await open(1), await open(2)];
    await registerOwner(one, 'alice', 1);
    await registerOwner(two, 'bob', 2);
    const begun = await claimed(one);
    for (let second = 0; second < 15; second += 5) {
      time += 5000;
      expect(await two.renew('bob', LEASE)).toBe(true);
    }
    expect(await two.sweep()).toMatchObject([{ id: begun.id, state: 'released' }]);
  });

  test('are ignored after they deregistered', async () => {
    const one = await open(1);
    await registerOwner(one, 'alice', 1);
    await one.deregisterOwner('alice');
    time += LEASE;
    const two = await open(2);
    await registerOwner(two, 'bob', 2);
    expect((await two.claim(request({ owner: 'bob' }))).kind).toBe('mine');
  });

  test('report the differing processes to the agent, and that nothing was executed', async () => {
    const { clock, start, upstream } = rig();
    const [one, two] = [await open(1), await open(2)];
    await registerOwner(one, 'alice', 1);
    wrongBy[2] = 60_000;
    const process = start({ pid: 2, through: () => two });
    const { error } = await process.call('post', { text: 'hello' });
    expect(error).toMatchObject({ code: 'db_error', outcome: 'not_executed' });
    expect(error?.message).toMatch(
      /differ by more than 5 s.*00:01:00\.000Z.*\(pid 2 on here\).*\(pid 1 on here\).*00:00:00\.000Z.*Synchronize/,
    );
    expect(upstream.requests).toBe(0);
    expect(process.reports).toMatchObject([skew]);

    wrongBy[2] = 0;
    await registerOwner(two, 'bob', 2);
    const answer = process.call('post', { text: 'hello' });
    while (upstream.requests === 0) await new Promise(setImmediate);
    await clock.advance(50);
    expect(await answer).toMatchObject({ success: true });
    process.kill();
  });
});
