import { buildManifest, type Tool } from '@toolkeel/contract';
import { createJournal, type Decide, ephemeralEncryption, memoryStore } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import { createHost } from '../host.js';
import { governed, packOf, shelf } from './governed.fixture.js';

describe('a host with a journal', () => {
  it('lists the journal arguments for every mutation, also before its pack is created', async () => {
    const { client } = await governed(shelf());
    const { tools } = await client.listTools();
    const withKey = tools
      .filter(({ inputSchema }) => 'idempotency_key' in (inputSchema.properties ?? {}))
      .map(({ name }) => name);
    expect(withKey).toEqual(['put', 'untouch']);
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['get_operation', 'get_policy_status']),
    );
  });

  it('accepts an idempotency key, and executes once per key', async () => {
    const { call, done } = await governed(shelf());
    const args = { thing: 'vase', idempotency_key: 'the-vase-of-monday' };
    expect(await call('put', args)).toMatchObject({ data: { n: 1 } });
    expect(await call('put', args)).toMatchObject({
      data: { n: 1 },
      meta: { idempotency: { key: 'the-vase-of-monday', replayed: true } },
    });
    expect(
      await call('untouch', { thing: 'vase', idempotency_key: 'untouch-of-monday' }),
    ).toMatchObject({
      success: true,
    });
    expect(await call('put', { ...args, thing: 'cup' })).toMatchObject({
      error: { code: 'idempotency_conflict' },
    });
    expect(done).toEqual(['vase']);
  });

  it('accepts the key in the request metadata', async () => {
    const { call, done } = await governed(shelf());
    const key = { 'dev.toolkeel/idempotency-key': 'the-vase-of-monday' };
    await call('put', { thing: 'vase' }, key);
    expect(await call('put', { thing: 'vase', note: 'again' }, key)).toMatchObject({
      error: { code: 'idempotency_conflict' },
    });
    expect(done).toEqual(['vase']);
  });

  it.each([
    [{ blockedTools: ['look'] }, 'policy_denied_blocked'],
    [
      { rules: [{ name: 'no', when: { tool: 'look', effect: 'read' }, action: 'deny' }] },
      'policy_denied_user_rule',
    ],
  ] as const)(
    'denies a read with a code that its manifest entry lists: %j',
    async (policy, code) => {
      const given = shelf();
      const { call } = await governed(given, { template: 'open', ...policy });
      expect((await call('look', {})).error?.code).toBe(code);
      const entry = buildManifest(given.tools).tools.find(({ name }) => name === 'look');
      expect(entry?.possible_error_codes).toContain(code);
    },
  );

  it('passes a key in the request metadata to rules as an argument', async () => {
    const keyless = {
      name: 'keyless',
      when: { tool: 'put', 'args.idempotency_key': { exists: false } },
      action: 'deny',
    } as const;
    const { call, done } = await governed(shelf(), { template: 'open', rules: [keyless] });
    expect((await call('put', { thing: 'vase' })).error?.code).toBe('policy_denied_user_rule');
    await call('put', { thing: 'vase' }, { 'dev.toolkeel/idempotency-key': 'the-vase-of-monday' });
    expect(done).toEqual(['vase']);
  });

  it('accepts the key beside the arguments, as SEP-3182 proposes', async () => {
    const { client, done } = await governed(shelf());
    const params = {
      name: 'put',
      arguments: { thing: 'vase' },
      idempotencyKey: 'the-vase-of-monday',
    };
    await client.callTool(params);
    const again = await client.callTool({ ...params, arguments: { thing: 'cup' } });
    expect(again.structuredContent).toMatchObject({ error: { code: 'idempotency_conflict' } });
    expect(done).toEqual(['vase']);
  });

  it('returns the state of an operation with get_operation', async () => {
    const { call, store } = await governed(shelf());
    await call('put', { thing: 'vase' });
    const [operation] = await store.list();
    expect(await call('get_operation', { operation_id: operation?.id })).toMatchObject({
      data: { tool: 'put', state: 'succeeded', account: 'adam' },
    });
  });

  it('counts replays, unknown operations and pending approvals', async () => {
    const store = memoryStore();
    let isDown = false;
    const count: typeof store.count = (states) =>
      isDown ? Promise.reject(new Error('down')) : store.count(states);
    const { call, host } = await governed(
      shelf(),
      {},
      { journaling: { store: { ...store, count } } },
    );
    await call('put', { thing: 'vase' });
    await call('put', { thing: 'vase' });
    const { text } = await host.metrics();
    expect(text).toContain('toolkeel_idempotent_replays_total{tool_name="put"} 1');
    expect(text).toContain('\ntoolkeel_operations_unknown 0\n');
    expect(text).toContain('\ntoolkeel_approvals_pending 0\n');
    isDown = true;
    expect((await host.metrics()).text).toContain('toolkeel_approvals_pending Nan');
  });

  it('records every call, including reads, with account and operation', async () => {
    const { call, host, store } = await governed(shelf());
    await call('look');
    await call('put', { thing: 'hers' });
    await call('put', { thing: 7 });
    await host.close();
    const calls = await store.calls();
    const [operation] = await store.list();
    const recorded = calls.map(({ tool, code, account, operationId }) => [
      tool,
      code,
      account,
      operationId,
    ]);
    const inOrder = (rows: readonly unknown[]) =>
      rows.map((row) => JSON.stringify(row)).toSorted((a, b) => a.localeCompare(b));
    expect(inOrder(recorded)).toEqual(
      inOrder([
        ['look', 'ok', undefined, undefined],
        ['put', 'ok', 'eve', operation?.id],
        ['put', 'validation_error', undefined, undefined],
      ]),
    );
    expect(JSON.stringify(calls)).not.toContain('hers');
  });

  it('logs the events of the journal with the correlation id of the call', async () => {
    const { tools, done } = shelf();
    const failing = tools.map((tool) =>
      tool.name === 'put'
        ? {
            ...tool,
            handler: () => {
              throw new Error('no response');
            },
          }
        : tool,
    );
    const { call, linesOf } = await governed({ tools: failing, done });
    const { error, meta } = await call('put', { thing: 'vase' });
    expect(linesOf('operation_unknown')).toEqual([
      expect.objectContaining({
        level: 'warn',
        correlation_id: meta['correlation_id'],
        operation_id: error?.operation_id,
        tool_name: 'put',
      }),
    ]);
  });

  it('closes the journal after the calls, and the packs after the journal', async () => {
    const order: string[] = [];
    const { tools } = shelf();
    const host = createHost({
      packs: [{ pack: packOf(tools, () => order.push('pack')) }],
      profile: 'api',
      journal: (deps) => {
        const journal = createJournal({
          store: memoryStore(),
          encryption: ephemeralEncryption(),
          ...deps,
        });
        return {
          ...journal,
          close: async () => {
            order.push('journal');
            await journal.close();
          },
        };
      },
    });
    await host.toolSource.load('put');
    await host.close();
    expect(order).toEqual(['journal', 'pack']);
  });
});

const approval = { kind: 'approve', rule: 'r', explanation: 'Ask.', expiresInMs: 60_000 } as const;
/** Requires approval for every call. */
const decide: Decide = (_, { approved }) => (approved ? { kind: 'allow', limits: [] } : approval);

it('records an approved call with its attempts and waiting time', async () => {
  const { tools, done } = shelf();
  const upstream = { onRequest: (_correlationId: string): void => {} };
  const retrying = tools.map((tool): Tool =>
    tool.name === 'put'
      ? {
          ...tool,
          handler: async (args, context) => {
            upstream.onRequest(context.correlationId);
            return tool.handler(args, context);
          },
        }
      : tool,
  );
  const { call, host, store } = await governed(
    { tools: retrying, done },
    {},
    { journaling: { decide } },
  );
  upstream.onRequest = (correlationId) => {
    const emit = (type: string, more: object): void =>
      host.observe(Object.assign({ correlationId, type }, more, { upstream: 'shelf', at: 0 }));
    emit('retry_attempt', { attempt: 0, afterMs: 70 });
    for (const attempt of [0, 1]) emit('attempt_end', { attempt, elapsedMs: 15 });
    emit('call_end', { attempts: 2, elapsedMs: 100 });
  };
  const { error } = await call('put', { thing: 'vase' });
  const id = error?.operation_id ?? '';
  const hash = (await store.get(id))?.approval?.hash ?? '';
  await store.decideApproval(id, { decision: 'approved', hash, by: 'ana', holdMs: 0 });
  await expect.poll(() => done).toEqual(['vase']);
  await expect.poll(async () => (await store.get(id))?.state).toBe('succeeded');
  const { text } = await host.metrics();
  await host.close();
  const rows = (await store.calls()).filter(({ code }) => code === 'ok');
  expect(rows).toMatchObject([{ tool: 'put', operationId: id, attempts: 2, waitedMs: 70 }]);
  expect(text).toContain('retries_attempted_total{tool_name="put"} 1');
});

it('logs a read-back that fails as a warning, not as a failure of the journal', async () => {
  const { done, tools } = shelf();
  const put: Tool = {
    ...tools[0]!,
    handler: () => Promise.reject(new Error('reset')),
    reconcile: { authoritative: false, readBack: () => Promise.reject(new Error('503')) },
  };
  const { call, host, linesOf } = await governed({ done, tools: [put, ...tools.slice(1)] });
  expect(await call('put', { thing: 'vase' })).toMatchObject({ error: { outcome: 'unknown' } });
  await expect.poll(() => linesOf('read_back_failed')).not.toHaveLength(0);
  expect(linesOf('read_back_failed')[0]).toMatchObject({
    level: 'warn',
    correlation_id: expect.any(String),
  });
  expect(linesOf('journal_failed')).toEqual([]);
  await host.close();
});

it('logs a failed notification separately from failures of the journal', async () => {
  const notify = () => Promise.reject(new Error('410 Gone'));
  const { call, host, linesOf } = await governed(shelf(), {}, { journaling: { decide, notify } });
  await call('put', { thing: 'vase' });
  await expect.poll(() => linesOf('notice_failed')).toHaveLength(1);
  const [requested] = linesOf('approval_requested');
  expect(linesOf('notice_failed')).toMatchObject([
    { correlation_id: requested?.['correlation_id'] },
  ]);
  expect(linesOf('journal_failed')).toEqual([]);
  await host.close();
});
