import type { OtherOperation, Reconciliation, ToolContext } from '@toolkeel/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { toolRules } from './config.js';
import type { Frame, Message } from './frame.js';
import { reconcileBy } from './reconcile.js';
import { createRig, text, type Rig } from './rig.fixture.js';

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

const SENT_AT = Date.parse('2026-05-05T12:00:00Z');
const HOUR = 3_600_000;
const rules = { tool: 'find', match: { title: '{title}' } };

interface Given {
  readonly more?: object;
  /** What the read tool returns. */
  readonly items: readonly object[];
  readonly others?: readonly Partial<OtherOperation>[];
  readonly args?: Readonly<Record<string, unknown>>;
  readonly idempotencyArgument?: string;
}

async function readBack(given: Given): Promise<Reconciliation> {
  const { items, others = [], args = { title: 'a' }, more, idempotencyArgument } = given;
  const { reconcile } = toolRules.parse({ reconcile: { ...rules, ...more } });
  const message: Message = {
    jsonrpc: '2.0',
    id: 1,
    result: { content: [], structuredContent: { items } },
  };
  const frame: Frame = { message, line: JSON.stringify(message) };
  const read = () => Promise.resolve(frame);
  const { readBack: run } = reconcileBy(reconcile!, read, { name: 'add', idempotencyArgument });
  const all = others.map((other) => ({ tool: 'add', args: { title: 'a' }, results: [], ...other }));
  const operation = { id: 'op_1', account: 'x', args, sentAt: SENT_AT };
  return run({ ...operation, others: () => Promise.resolve(all) }, {} as ToolContext);
}

describe('an object that matches', () => {
  const one = [{ id: 1, title: 'a' }];
  const two = [...one, { id: 2, title: 'a' }];

  it('proves that the call was executed', async () => {
    expect(await readBack({ items: one })).toMatchObject({ found: 'executed' });
    expect(await readBack({ items: [] })).toEqual({ found: 'absent' });
  });

  it.each([
    ['an earlier call was executed', { executedAt: SENT_AT - 48 * HOUR }],
    ['a later call was executed', { executedAt: SENT_AT + 1 }],
    ['an equal call with an unknown outcome was first', { openSince: SENT_AT - 1 }],
    ['an equal call was sent at the same time', { openSince: SENT_AT }],
    [
      'another call that the match does not tell apart is open',
      { openSince: SENT_AT + 1, args: { title: 'a', body: 'b' } },
    ],
  ])('proves nothing if %s', async (_, other) => {
    expect(await readBack({ items: one, others: [other] })).toEqual({ found: 'unknown' });
    expect(await readBack({ items: two, others: [other] })).toMatchObject({ found: 'executed' });
  });

  it.each([
    ['a later equal call', { openSince: SENT_AT + 1 }],
    ['a call with other arguments', { executedAt: SENT_AT, args: { title: 'b' } }],
    ['a call that was not executed', {}],
  ])('is not claimed by %s', async (_, other) => {
    expect(await readBack({ items: one, others: [other] })).toMatchObject({ found: 'executed' });
  });

  it('counts once if the result repeats it', async () => {
    const others = [{ executedAt: SENT_AT - HOUR }];
    expect(await readBack({ items: [...one, ...one], others })).toEqual({ found: 'unknown' });
  });
});

describe('an object with a time of creation', () => {
  const more = { createdAt: 'at' };
  const at = (value: unknown) => [{ id: 1, title: 'a', at: value }];

  it.each(['2026-05-05T12:00:01Z', SENT_AT + 1000, SENT_AT / 1000 + 1])(
    'proves that the call was executed if it is new: %s',
    async (time) => {
      expect(await readBack({ more, items: at(time) })).toMatchObject({ found: 'executed' });
    },
  );

  it('is not that of the call if it is older', async () => {
    expect(await readBack({ more, items: at('2026-05-05T11:00:00Z') })).toEqual({
      found: 'absent',
    });
  });

  it.each([undefined, 'yesterday', null])('proves nothing without a time: %s', async (time) => {
    expect(await readBack({ more, items: at(time) })).toEqual({ found: 'unknown' });
  });

  it('belongs to a call of that time, not to those of before', async () => {
    const items = at('2026-05-05T12:00:01Z');
    const before = { executedAt: SENT_AT - HOUR };
    expect(await readBack({ more, items, others: [before] })).toMatchObject({ found: 'executed' });
    const since = { executedAt: SENT_AT + 10 };
    expect(await readBack({ more, items, others: [since] })).toEqual({ found: 'unknown' });
  });
});

it('the key that the guard has sent finds its own object, whatever other calls did', async () => {
  const more = { match: { request_id: '{request_id}' } };
  const others = [{ executedAt: SENT_AT - 1 }, { openSince: SENT_AT }];
  const given = { more, others, idempotencyArgument: 'request_id' };
  const items = [{ title: 'a', request_id: 'op_1' }];
  expect(await readBack({ ...given, items })).toMatchObject({ found: 'executed' });
  expect(await readBack({ ...given, items: [{ title: 'a', request_id: 'op_2' }] })).toEqual({
    found: 'absent',
  });
});

it('one object does not settle two equal calls, nor one of before a later call', async () => {
  const made: string[] = [];
  const config = { tools: { add: { reconcile: { tool: 'get', match: { title: '{title}' } } } } };
  rig = createRig({
    config,
    onCall: ({ name, args }, fake) => {
      if (name === 'get') return text(JSON.stringify(made.map((title, id) => ({ id, title }))));
      if (args['title'] === 'twice') {
        if (fake.calls.filter((call) => call.name === 'add').length < 2) return undefined;
        made.push('twice');
        return fake.crash();
      }
      if (made.includes('before')) return fake.crash();
      made.push('before');
      return text('done');
    },
  });
  const client = await rig.client();
  const codes = (answers: readonly Message[]) =>
    answers.map((answer) => /outcome_unknown|Executed|done/.exec(JSON.stringify(answer))?.[0]);
  const twice = () => client.call('add', { title: 'twice' });
  const lost = await Promise.all([twice(), twice()]);
  expect(codes(lost)).toContain('outcome_unknown');
  const states = await rig.guard.journal.operations.list();
  expect(states.filter(({ outcome }) => outcome === 'executed').length).toBeLessThanOrEqual(1);
  expect(codes([await client.call('add', { title: 'before' })])).toEqual(['done']);
  expect(codes([await client.call('add', { title: 'before' })])).toEqual(['outcome_unknown']);
});
