import { raise, toolError, type Arguments, type Tool, type ToolContext } from '@toolkeel/contract';
import type { CallEngine } from '@toolkeel/host/parts';
import { presets } from '@toolkeel/kernel/policy';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { lostFault, type Exchange } from './attempts.js';
import { GuardedCalls } from './calls.js';
import { upstreamSchema } from './config.js';
import { frameOf, type Message, type RequestFrame, type ResponseFrame } from './frame.js';
import { createRig, text, writeTool, type Rig, type RigOptions } from './rig.fixture.js';

let rig: Rig | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await rig?.close();
  rig = undefined;
});
const open = (options: RigOptions): Rig => (rig = createRig(options));
const errorOf = ({ result }: Message) =>
  (result?.['structuredContent'] as { error: Readonly<Record<string, unknown>> } | undefined)
    ?.error;

describe('a call that the journal must not send', () => {
  it.each(['once', 'idempotent'])(
    'because a limit is used up is denied, and works once the limit allows it: %s',
    async (effect) => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const { client, upstream, logs } = open({
        settings: { limits: { w: { when: { tool: 'add' }, perMinute: 2 } } },
        config: { tools: { add: { effect } } },
        onCall: () => text('done'),
      });
      const one = await client();
      for (const n of [1, 2])
        expect((await one.call('add', { n })).result).toMatchObject(text('done'));
      for (const n of [3, 4, 3]) {
        expect(errorOf(await one.call('add', { n }))).toMatchObject({
          code: 'policy_denied_rate_limited',
          outcome: 'not_executed',
          details: { rule: 'w/minute' },
        });
      }
      expect(upstream.calls).toHaveLength(2);
      const events = logs().map(({ event }) => event);
      expect(events).not.toContain('unexpected');
      expect(events).not.toContain('journal_failed');
      vi.setSystemTime(Date.now() + 62_000);
      expect((await one.call('add', { n: 3 })).result).toMatchObject(text('done'));
      expect(upstream.calls).toHaveLength(3);
    },
  );

  it('because the same act has an unknown outcome under another key conflicts', async () => {
    const { client, upstream } = open({ onCall: (_call, fake) => fake.crash() });
    const one = await client();
    const keyed = (key: string) => ({ _meta: { 'dev.toolkeel/idempotency-key': key } });
    expect(errorOf(await one.call('add', { n: 1 }, keyed('first-key-of-the-act')))).toMatchObject({
      code: 'outcome_unknown',
    });
    expect(errorOf(await one.call('add', { n: 1 }, keyed('second-key-of-the-act')))).toMatchObject({
      code: 'idempotency_conflict',
      outcome: 'not_executed',
    });
    expect(upstream.calls).toHaveLength(1);
  });

  const AT = '2026-01-01T00:00:00.000Z';
  const refusals = [
    toolError('policy_denied_rate_limited', 'The limit is used up.', { details: { rule: 'w' } }),
    toolError('policy_denied_hard_rule', 'The limit of the hard rule is used up.', {
      details: { rule: 'hard:w', explanation: 'x' },
    }),
    toolError('policy_denied_user_rule', 'Not allowed any more.', {
      details: { rule: 'w', explanation: 'x' },
    }),
    toolError('policy_error', 'The policy failed.', { outcome: 'not_executed' }),
    toolError('idempotency_conflict', 'Another key.', { details: { first_at: AT } }),
    toolError('approval_expired', 'The approval expired.', { details: { expired_at: AT } }),
    toolError('db_error', 'The lease expired.', { outcome: 'not_executed' }),
  ];
  it.each(refusals.map((error) => [error.input.code, error] as const))(
    'gets the refusal as it is: %s',
    async (_code, error) => {
      for (const effect of ['once', 'idempotent']) {
        expect(await handled(effect, () => raise(error))).toBe(error);
      }
    },
  );

  it('is not called unsent if the refusal does not say so, or follows an attempt that was sent', async () => {
    const doubtful = toolError('internal_error', 'Sent already.', { outcome: 'unknown' });
    const lost = toolError('db_error', 'The lease expired.', { outcome: 'not_executed' });
    const fault = { sent: 'maybe' };
    expect(await handled('once', () => raise(doubtful))).toMatchObject({ fault });
    let attempts = 0;
    const again = handled('idempotent', (write) => (++attempts === 1 ? write() : raise(lost)));
    expect(await again).toMatchObject({ fault });
    expect(attempts).toBe(2);
    expect(await handled('once', (write) => write().then(() => raise(lost)))).toMatchObject({
      fault,
    });
  });
});

/** What the handler of a call returns if the journal answers its request to send so. */
async function handled(
  effect: string,
  send: (write: () => Promise<unknown>) => unknown,
): Promise<unknown> {
  let returned: unknown;
  const run = async (callable: { readonly load: () => Tool }, args: Arguments) => {
    const context = {
      operation: { id: 'op_1', send: async (write: () => Promise<unknown>) => send(write) },
      deadline: performance.now() + 60_000,
      correlationId: 'c',
      signal: new AbortController().signal,
    };
    returned = await callable.load().handler(args, context as unknown as ToolContext);
    return { envelope: { success: true, data: {}, meta: { retry_count: 0 } } };
  };
  const config = upstreamSchema.parse({
    command: 'unused',
    tools: { add: { effect } },
    policy: { initialBackoffMs: 1, maxBackoffMs: 1 },
  });
  const calls = new GuardedCalls({
    name: 'fake',
    account: 'fake',
    config,
    policy: { ...presets.guard, ...config.policy },
    engine: () => ({ run, observe: () => {} }) as unknown as CallEngine,
    admitRead: () => undefined,
    scrub: (line) => line,
    log: () => {},
    onTools: () => Promise.resolve(),
    anyExchange: () => undefined,
  });
  await calls.replace([writeTool]);
  const params = { name: 'add', arguments: {} };
  const frame = frameOf({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }) as RequestFrame;
  const exchange: Exchange = {
    signal: new AbortController().signal,
    onDetached: () => {},
    tools: () => undefined,
    reason: () => 'is not running',
    // Every write is lost with its connection.
    send: (attempt, { write }) => {
      attempt.sent = 'no';
      return write((): Promise<ResponseFrame> => {
        attempt.sent = 'maybe';
        return Promise.reject(lostFault('maybe', 'lost'));
      });
    },
    finish: () => {},
  };
  await calls.run(frame, exchange);
  return returned;
}
