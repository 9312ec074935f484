import { describe, expect, test } from 'vitest';
import type { OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import type { SendRequest, Settlement } from '../store.js';
import type { Tables } from '../tables.js';
import { claim, claimKeys } from '../transitions/claim.js';
import { send } from '../transitions/send.js';
import { settle } from '../transitions/settle.js';
import { byContent, request, success, unknown } from '../contract/harness.fixture.js';
import { createMemory, plan, type Remembered } from './optimistic.js';

const dialect = {
  kind: 'postgres',
  prefix: '',
  clock: () => 'now_ms()',
  lock: ' FOR UPDATE',
  skipLocked: ' FOR UPDATE SKIP LOCKED',
  packsRows: false,
} as const;
const planned = <T>(
  script: (tables: Tables) => Script<T>,
  now: number,
  remembered?: Remembered,
): ReturnType<typeof plan<T>> => plan(script, now, dialect, remembered);

const keyOf = (): string => 'a'.repeat(64);
const asked = request({ dedupKey: byContent(), content: 'c' });
const claimAt = (now: number) =>
  planned((it) => claim(it, asked, claimKeys(asked, keyOf), true), now)!;
const claimed = (): Remembered => ({ record: claimAt(1000).after, xid: 2 ** 32 + 7 });
const token = { id: asked.id, owner: 'alice', fence: 1 };
const sendAt = (now: number, changes: Partial<SendRequest> = {}, remembered = claimed()) =>
  planned((it) => send(it, token, { limits: [], ...changes }), now, remembered);
const settleAt = (now: number, settlement: Settlement, record: OperationRecord) =>
  planned((it) => settle(it, token, settlement, keyOf), now, { record, xid: 8 });

describe('a planned transition', () => {
  test('has the result and the record of the time at which it took effect', () => {
    expect(claimAt(1000).value).toMatchObject({ kind: 'mine', operation: { createdAt: 1000 } });
    const sent = sendAt(2000)!;
    expect(sent.value).toEqual({ kind: 'sent', at: 2000 });
    expect(sent.after).toMatchObject({ state: 'sending', sendingAt: 2000, sends: 1 });
    const { after, wakeup } = settleAt(3000, success({ holdMs: 500 }), sent.after)!;
    expect(after).toMatchObject({ state: 'succeeded', settledAt: 3000, heldUntil: 3500 });
    expect(wakeup).toBe('ended');
  });

  test('has a statement that does not depend on that time', () => {
    const sending = sendAt(2000)!.after;
    for (const at of [
      (now: number) => claimAt(now).query(),
      (now: number) => sendAt(now)!.query(),
      (now: number) => settleAt(now, success(), sending)!.query(),
    ]) {
      expect(at(5000)).toEqual(at(6000));
    }
  });

  test('requires the version of the row that the last transaction wrote', () => {
    expect(sendAt(2000)!.query().values.slice(0, 5)).toEqual([
      asked.id,
      'alice',
      1,
      'claimed',
      '7',
    ]);
  });
});

describe('a transition is not planned', () => {
  const sending = sendAt(2000)!.after;
  test.each([
    [
      'an operation that is not remembered',
      () => sendAt(1, {}, { record: { ...sending, id: 'other' }, xid: 1 }),
    ],
    ['another fencing token', () => sendAt(1, {}, { record: { ...sending, fence: 2 }, xid: 1 })],
    ['policy limits', () => sendAt(1, { limits: [{ name: 'l', max: 1, windowMs: 1 }] })],
    ['a step, which records the time', () => sendAt(1, { step: 'a' })],
    ['operations to release', () => sendAt(1, { releases: ['op_1'] })],
    ['a check of other operations', () => sendAt(1, { exclusive: true })],
    ['a notification', () => settleAt(1, unknown(), sending)],
    ['a refund', () => settleAt(1, success({ refund: true }), sending)],
    [
      'a dedup key to take over',
      () => settleAt(1, success(), { ...sending, scopedKey: undefined }),
    ],
    [
      'an operation that is settled',
      () => settleAt(1, success(), { ...sending, state: 'rejected' }),
    ],
  ])('with %s', (_, attempt) => {
    expect(attempt()).toBeUndefined();
  });
});

test('the memory forgets settled operations, and the oldest beyond its limit', () => {
  const memory = createMemory(2);
  const { record } = claimed();
  for (const id of ['a', 'b', 'a', 'c']) memory.put({ ...record, id }, 1);
  expect(['a', 'b', 'c'].map((id) => memory.get(id) !== undefined)).toEqual([true, false, true]);
  memory.put({ ...record, id: 'a', state: 'succeeded', owner: undefined }, 2);
  expect(memory.get('a')).toBeUndefined();
});
