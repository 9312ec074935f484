import { expect, test } from 'vitest';
import type { Operation } from '../../operation.js';
import {
  byKey,
  claimed,
  fencingToken,
  LEASE,
  owner,
  request,
  sending,
  unknown,
  type Bench,
} from './harness.fixture.js';

const halfWay = { state: 'claimed', answer: '{}', code: 'x_api_error', holdMs: 0 } as const;

export function stepContract(bench: () => Bench): void {
  const names = ({ steps }: Operation) => steps.map(({ name, state }) => `${name} ${state}`);
  const taken = async () => {
    const result = await bench().store.claim(request({ owner: 'bob' }));
    if (result.kind !== 'mine') throw new Error(`not mine: ${JSON.stringify(result)}`);
    return result;
  };
  const takenOver = async ({ id, fence }: Operation) =>
    (await bench().store.takeOver(id, 'bob', fence))!;

  test('a step is open while it is sent and stored when it is completed', async () => {
    const { store } = bench();
    const operation = await sending(store, {}, 'first');
    const at = await store.now();
    expect((await store.get(operation.id))!.steps).toEqual([
      { name: 'first', state: 'sending', at, owner: 'alice' },
    ]);
    expect(await store.completeStep(fencingToken(operation), 'first', '{"id":"1"}')).toBe(true);
    expect(await store.get(operation.id)).toMatchObject({
      state: 'claimed',
      owner: 'alice',
      steps: [{ name: 'first', state: 'done', result: '{"id":"1"}', at }],
    });
  });

  test('the next step is sent after the previous one is completed, and none is sent twice', async () => {
    const { store } = bench();
    const operation = await sending(store, {}, 'first');
    const mine = fencingToken(operation);
    expect((await store.send(mine, { limits: [], step: 'second' })).kind).toBe('lost');
    await store.completeStep(mine, 'first', '1');
    expect((await store.send(mine, { limits: [], step: 'first' })).kind).toBe('lost');
    expect((await store.send(mine, { limits: [], step: 'second' })).kind).toBe('sent');
    expect((await store.send(mine, { limits: [], step: 'second' })).kind).toBe('sent');
    expect(names((await store.get(operation.id))!)).toEqual(['first done', 'second sending']);
  });

  test('a step without a send is stored, too, and its first result is kept', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    expect(await store.completeStep(fencingToken(operation), 'draft', '"a"')).toBe(true);
    expect(await store.completeStep(fencingToken(operation), 'draft', '"b"')).toBe(true);
    expect((await store.get(operation.id))!.steps).toMatchObject([{ result: '"a"' }]);
  });

  test('only the owner completes or reopens a step', async () => {
    const { store } = bench();
    const operation = await sending(store, {}, 'first');
    for (const other of [{ owner: 'bob' }, { fence: 7 }, { id: 'op_none' }]) {
      const theirs = { ...fencingToken(operation), ...other };
      expect(await store.completeStep(theirs, 'first', '1')).toBe(false);
      expect(await store.reopenStep(theirs, 'first')).toBe(false);
    }
    expect(await store.reopenStep(fencingToken(operation), 'second')).toBe(false);
    expect(await store.get(operation.id)).toMatchObject({ state: 'sending' });
  });

  test('a half-done operation is resumed by the next claim, however late', async () => {
    const { store, advance } = bench();
    const operation = await sending(store, {}, 'first');
    await store.completeStep(fencingToken(operation), 'first', '1');
    expect(await store.settle(fencingToken(operation), halfWay)).toBe(true);
    const waiting = (await store.get(operation.id))!;
    expect(waiting).toMatchObject({ state: 'claimed', holdsDedupKey: true, code: 'x_api_error' });
    expect(waiting.owner).toBeUndefined();

    await advance(400 * 86_400_000);
    await store.registerOwner(owner('bob'), LEASE);
    const { operation: resumed, resumed: was } = await taken();
    expect(was).toBe(true);
    expect(resumed).toMatchObject({ id: operation.id, owner: 'bob', fence: 2, state: 'claimed' });
    expect(names(resumed)).toEqual(['first done']);
    expect((await store.send(fencingToken(operation), { limits: [], step: 'second' })).kind).toBe(
      'lost',
    );
  });

  test('one of many concurrent claims resumes', async () => {
    const { store, another } = bench();
    const operation = await claimed(store);
    await store.completeStep(fencingToken(operation), 'first', '1');
    await store.settle(fencingToken(operation), halfWay);
    const other = await another();
    const results = await Promise.all(
      [store, other, store, other].map((one) => one.claim(request({ owner: 'bob' }))),
    );
    expect(results.filter(({ kind }) => kind === 'mine')).toHaveLength(1);
    expect(await store.get(operation.id)).toMatchObject({ fence: 2, owner: 'bob' });
  });

  test('completed steps survive a crash between steps', async () => {
    const { store, advance } = bench();
    const operation = await sending(store, {}, 'first');
    await store.completeStep(fencingToken(operation), 'first', '1');
    await advance(LEASE);
    await store.registerOwner(owner('bob'), LEASE);
    expect(await store.sweep()).toMatchObject([{ id: operation.id, state: 'claimed' }]);
    expect((await store.get(operation.id))!.owner).toBeUndefined();
    expect((await taken()).resumed).toBe(true);
  });

  test('a crash during a step leaves it open, with its sender', async () => {
    const { store, advance } = bench();
    const operation = await sending(store, {}, 'first');
    await advance(LEASE);
    await store.registerOwner(owner('bob'), LEASE);
    await store.sweep();
    expect(await store.get(operation.id)).toMatchObject({ state: 'unknown', owner: 'alice' });

    // A claim does not resume an unknown operation.
    expect(await store.claim(request({ owner: 'bob' }))).toMatchObject({
      kind: 'held',
      operation: { state: 'unknown', fence: 1 },
    });
    const resumed = await takenOver(operation);
    expect(resumed).toMatchObject({ state: 'claimed', owner: 'bob', fence: 2 });
    expect(resumed.steps).toMatchObject([{ name: 'first', state: 'sending', owner: 'alice' }]);
    expect(resumed.outcome).toBeUndefined();
    // The step is not sent again before its outcome is established.
    expect((await store.send(fencingToken(resumed), { limits: [], step: 'first' })).kind).toBe(
      'lost',
    );
    expect(await store.reopenStep(fencingToken(resumed), 'first')).toBe(true);
    expect((await store.send(fencingToken(resumed), { limits: [], step: 'first' })).kind).toBe(
      'sent',
    );
    expect(await store.completeStep(fencingToken(operation), 'first', '1')).toBe(false);
  });

  test('an operation whose new owner dies is unknown again', async () => {
    const { store, advance } = bench();
    const operation = await sending(store, {}, 'first');
    await advance(LEASE);
    await store.registerOwner(owner('bob'), LEASE);
    await store.sweep();
    await takenOver(operation);
    await advance(LEASE);
    await store.sweep();
    const after = (await store.get(operation.id))!;
    expect(after).toMatchObject({ state: 'unknown', holdsDedupKey: true, fence: 2 });
    expect(after.owner).toBeUndefined();
    expect(after.steps).toMatchObject([{ state: 'sending', owner: 'alice' }]);
  });

  test('an owner that settles its step as unknown no longer counts as its sender', async () => {
    const { store } = bench();
    const operation = await sending(store, {}, 'first');
    await store.settle(fencingToken(operation), unknown());
    const resumed = await takenOver(operation);
    expect(resumed.steps).toEqual([
      { name: 'first', state: 'sending', at: expect.any(Number) as number },
    ]);
    expect(await store.completeStep(fencingToken(resumed), 'first', '1')).toBe(true);
    expect(await store.get(operation.id)).toMatchObject({ state: 'claimed', owner: 'bob' });
  });

  test('settling keeps the sender of another owner’s open step', async () => {
    const { store, advance } = bench();
    const operation = await sending(store, {}, 'first');
    await advance(LEASE);
    await store.registerOwner(owner('bob'), LEASE);
    await store.sweep();
    await store.settle(fencingToken(await takenOver(operation)), unknown());
    const after = (await store.get(operation.id))!;
    expect(after).toMatchObject({ state: 'unknown', steps: [{ owner: 'alice' }] });
    expect(after.owner).toBeUndefined();
  });

  test('is taken over once, with the current fence, by an owner with a live lease', async () => {
    const { store, another, advance } = bench();
    const operation = await sending(store, {}, 'first');
    expect(await store.takeOver(operation.id, 'bob', 1)).toBeUndefined();
    await advance(LEASE);
    await store.sweep();
    expect(await store.takeOver(operation.id, 'bob', 1)).toBeUndefined();
    await store.registerOwner(owner('bob'), LEASE);
    expect(await store.takeOver(operation.id, 'bob', 2)).toBeUndefined();
    expect(await store.takeOver('op_none', 'bob', 1)).toBeUndefined();
    const other = await another();
    const taken = await Promise.all([
      store.takeOver(operation.id, 'bob', 1),
      other.takeOver(operation.id, 'bob', 1),
    ]);
    expect(taken.filter((one) => one !== undefined)).toHaveLength(1);
    const whole = await sending(store, { owner: 'bob', tool: 'reply' });
    await store.settle(fencingToken(whole), unknown());
    expect(await store.takeOver(whole.id, 'bob', 1)).toBeUndefined();
  });

  test('a former owner can complete its step and leaves the operation without an owner', async () => {
    const { store, advance } = bench();
    const operation = await sending(store, {}, 'first');
    await advance(LEASE);
    await store.sweep();
    expect(await store.completeStep(fencingToken(operation), 'first', '1')).toBe(true);
    expect(names((await store.get(operation.id))!)).toEqual(['first done']);
    expect((await store.get(operation.id))!.owner).toBeUndefined();
    await store.registerOwner(owner('alice'), LEASE);
    expect((await store.send(fencingToken(operation), { limits: [], step: 'second' })).kind).toBe(
      'lost',
    );
    await store.registerOwner(owner('bob'), LEASE);
    expect((await taken()).resumed).toBe(true);
  });

  test('an explicit key with other arguments does not resume', async () => {
    const { store } = bench();
    const dedupKey = byKey();
    const operation = await claimed(store, { dedupKey });
    await store.completeStep(fencingToken(operation), 'first', '1');
    await store.settle(fencingToken(operation), halfWay);
    const other = await store.claim(request({ dedupKey, argsHash: 'h2' }));
    expect(other).toMatchObject({ kind: 'held', operation: { id: operation.id } });
    expect((await store.claim(request({ dedupKey }))).kind).toBe('mine');
  });

  test('an unknown operation without an open step cannot be taken over', async () => {
    const { store } = bench();
    const operation = await sending(store);
    await store.settle(fencingToken(operation), unknown());
    expect((await store.claim(request({ owner: 'bob' }))).kind).toBe('held');
  });

  test('an operator can reconcile a half-done operation', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    await store.completeStep(fencingToken(operation), 'first', '1');
    await store.settle(fencingToken(operation), halfWay);
    const verdict = {
      outcome: 'executed',
      answer: '{}',
      code: 'ok',
      holdMs: 0,
      by: 'ann',
    } as const;
    expect(await store.reconcile(operation.id, verdict)).toBe(true);
    expect((await store.claim(request())).operation.id).not.toBe(operation.id);
  });
}
