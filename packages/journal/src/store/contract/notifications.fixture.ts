import { expect, test } from 'vitest';
import { decision, waiting } from './approvals.fixture.js';
import {
  byContent,
  fencingToken,
  LEASE,
  newId,
  sending,
  settled,
  unknown,
  type Bench,
} from './harness.fixture.js';

const MINUTE = 60_000;

export function notificationContract(bench: () => Bench): void {
  test('unknown operations and pending approvals are notified, oldest first', async () => {
    const { store, advance } = bench();
    const one = await settled(store, { dedupKey: byContent(newId()) }, unknown());
    const at = await store.now();
    await advance(1);
    const two = await waiting(bench());
    expect(await store.takeNotifications(10)).toEqual([
      {
        id: expect.any(String) as string,
        kind: 'operation_unknown',
        operationId: one.id,
        at,
        tries: 1,
      },
      {
        id: expect.any(String) as string,
        kind: 'approval_requested',
        operationId: two.id,
        at: at + 1,
        tries: 1,
      },
    ]);
  });

  test('an operation that becomes unknown by a sweep is notified', async () => {
    const { store, advance } = bench();
    const { id } = await sending(store);
    await advance(LEASE);
    await store.sweep();
    expect(await store.takeNotifications(10)).toMatchObject([{ operationId: id }]);
  });

  test('each is taken by one process, and is due again if that one does not report', async () => {
    const { store, another, advance } = bench();
    for (let i = 0; i < 4; i++) {
      await settled(store, { dedupKey: byContent(newId()) }, unknown());
    }
    const other = await another();
    const taken = await Promise.all([store.takeNotifications(3), other.takeNotifications(3)]);
    expect(new Set(taken.flat().map(({ id }) => id)).size).toBe(taken.flat().length);
    await store.takeNotifications(10);
    expect(await other.takeNotifications(10)).toEqual([]);
    await advance(MINUTE);
    const again = await store.takeNotifications(10);
    expect(again.map(({ tries }) => tries)).toEqual([2, 2, 2, 2]);
  });

  test('sent notifications are not repeated, failed ones are rescheduled', async () => {
    const { store, advance } = bench();
    await settled(store, { dedupKey: byContent(newId()) }, unknown());
    await settled(store, { dedupKey: byContent(newId()) }, unknown());
    const [one, two] = await store.takeNotifications(10);
    await store.markNotificationSent(one!.id);
    await store.rescheduleNotification(two!.id, 5000);
    await advance(4999);
    expect(await store.takeNotifications(10)).toEqual([]);
    await advance(1);
    expect(await store.takeNotifications(10)).toMatchObject([{ id: two!.id, tries: 2 }]);
    await advance(10 * MINUTE);
    expect(await store.takeNotifications(10)).toMatchObject([{ id: two!.id, tries: 3 }]);
  });

  test('the same unknown operation is notified once', async () => {
    const { store } = bench();
    const { id } = await sending(store, {}, 'first');
    await store.settle({ id, owner: 'alice', fence: 1 }, unknown());
    const [notification] = await store.takeNotifications(10);
    await store.markNotificationSent(notification!.id);
    const again = (await store.takeOver(id, 'bob', 1))!;
    await store.settle(fencingToken(again), unknown());
    expect(await store.takeNotifications(10)).toEqual([]);
  });

  test.each([
    ['completed', 'second'],
    ['reopened', 'first'],
  ])('an unknown operation after a step that was %s is notified again', async (end, next) => {
    const { store } = bench();
    const { id } = await sending(store, {}, 'first');
    await store.settle({ id, owner: 'alice', fence: 1 }, unknown());
    const [notification] = await store.takeNotifications(10);
    await store.markNotificationSent(notification!.id);
    const again = fencingToken((await store.takeOver(id, 'bob', 1))!);
    if (end === 'completed') await store.completeStep(again, 'first', '{}');
    else await store.reopenStep(again, 'first');
    expect(await store.takeNotifications(10)).toEqual([]);
    await store.send(again, { limits: [], step: next });
    await store.settle(again, unknown());
    expect(await store.takeNotifications(10)).toMatchObject([{ operationId: id, tries: 1 }]);
  });

  test('resolved operations are not notified', async () => {
    const { store } = bench();
    const one = await settled(store, { dedupKey: byContent(newId()) }, unknown());
    const verdict = {
      outcome: 'executed',
      answer: '{}',
      code: 'ok',
      holdMs: 0,
      by: 'ann',
    } as const;
    await store.reconcile(one.id, verdict);
    const two = await waiting(bench());
    await store.decideApproval(two.id, decision());
    expect(await store.takeNotifications(10)).toEqual([]);
  });

  test('an approved operation that becomes unknown is notified', async () => {
    const { store } = bench();
    const { id } = await waiting(bench());
    await store.decideApproval(id, decision());
    const taken = await store.takeApproved('alice', ['post']);
    await store.send(fencingToken(taken!), { limits: [] });
    await store.settle(fencingToken(taken!), unknown());
    expect(await store.takeNotifications(10)).toMatchObject([
      { kind: 'operation_unknown', operationId: id },
    ]);
  });
}
