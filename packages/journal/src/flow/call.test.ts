import { beforeSend, toolError, type Tool } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { keyFor, markOnly, rig, sleep } from '../fixtures/rig.fixture.js';

const idempotency_key = keyFor('a');

describe('a repeat', () => {
  it('replays the whole first answer and sends nothing', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const first = await clock.run(server.call('post', { text: 'a' }));
    expect(first).toMatchObject({
      success: true,
      data: { id: 'e1' },
      meta: { idempotency: { replayed: false } },
    });
    const again = await clock.run(server.call('post', { text: 'a' }));
    expect(again).toMatchObject({
      success: true,
      data: { id: 'e1' },
      meta: { idempotency: { replayed: true, first_at: '2026-03-01T12:00:00.000Z' } },
    });
    expect(upstream.requests).toBe(1);
    expect(server.events).toMatchObject([
      { type: 'idempotent_replay', correlationId: again.meta.correlation_id },
    ]);
  });

  it('replays a definite rejection, with the id of its operation', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: '400', commits: false });
    const first = await clock.run(server.call('post', { text: 'a' }));
    expect(first).toMatchObject({ error: { code: 'upstream_rejected', outcome: 'not_executed' } });
    const again = await clock.run(server.call('post', { text: 'a' }));
    expect(again).toMatchObject({ error: first.error, meta: { idempotency: { replayed: true } } });
    expect(again.error?.operation_id).toMatch(/^op_[0-9a-f]{32}$/);
    expect(upstream.requests).toBe(1);
  });

  it('is recognised for a window after the last delivery, not after the claim', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ actsAfterMs: 5000 });
    await clock.run(server.call('post', { text: 'a' }));
    for (const waited of [28_900, 28_900]) {
      await clock.advance(waited);
      await clock.run(server.call('post', { text: 'a' }));
      expect(upstream.effects).toHaveLength(1);
    }
    await clock.advance(31_000);
    await clock.run(server.call('post', { text: 'a' }));
    expect(upstream.effects).toHaveLength(2);
  });

  it('with a key is recognised for the whole retention, wherever the key is given', async () => {
    const { clock, start, upstream } = rig({ retentionMs: 3_600_000 });
    const server = start();
    await clock.run(server.call('post', { text: 'a', idempotency_key }));
    await clock.advance(3_500_000);
    const meta = { 'dev.toolkeel/idempotency-key': idempotency_key };
    const again = await clock.run(server.call('post', { text: 'a' }, { meta }));
    expect(again).toMatchObject({
      data: { id: 'e1' },
      meta: { idempotency: { key: idempotency_key } },
    });
    expect(upstream.effects).toHaveLength(1);
  });

  it('with the key of other arguments is a conflict and sends nothing', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('post', { text: 'a', idempotency_key }));
    const other = await clock.run(server.call('post', { text: 'b', idempotency_key }));
    expect(other).toMatchObject({
      error: {
        code: 'idempotency_conflict',
        outcome: 'not_executed',
        operation_id: expect.stringMatching(/^op_/),
        details: { first_at: '2026-03-01T12:00:00.000Z' },
      },
    });
    expect(upstream.effects).toHaveLength(1);
  });

  it('with the key of other arguments is a conflict while the first is in flight, too', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const calls = ['a', 'b'].map((text) => server.call('post', { text, idempotency_key }));
    const [, other] = await clock.run(Promise.all(calls));
    expect(other).toMatchObject({ error: { code: 'idempotency_conflict' } });
    expect(upstream.effects).toHaveLength(1);
  });

  it('with other wording is the same act where a template identifies it', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('reply', { to: '1', text: 'Thanks!' }));
    const again = await clock.run(server.call('reply', { to: '1', text: 'Thank you!' }));
    expect(again).toMatchObject({ data: { id: 'e1' }, meta: { idempotency: { replayed: true } } });
    expect(upstream.effects).toHaveLength(1);
  });

  it('with allow_duplicate acts again, also while the first is in flight', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('post', { text: 'a' }));
    await clock.run(server.call('post', { text: 'a', allow_duplicate: true }));
    expect(upstream.effects).toHaveLength(2);
    upstream.plans.push({ actsAfterMs: 3000 });
    const slow = server.call('post', { text: 'b' });
    await clock.advance(100);
    const beside = await clock.run(server.call('post', { text: 'b', allow_duplicate: true }));
    expect(beside.success).toBe(true);
    expect(await clock.run(slow)).toMatchObject({ success: true });
    expect(upstream.effects).toHaveLength(4);
  });

  it('of an idempotent tool without a window acts again at once', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('touch', { id: '1' }));
    await clock.run(server.call('touch', { id: '1' }));
    expect(upstream.effects).toHaveLength(2);
  });

  it('of an operation whose answer was too large to store reports that and sends nothing', async () => {
    const data = { id: 'x'.repeat(2 ** 20) };
    const { clock, start } = rig({ handlers: { post: () => data } });
    const server = start();
    for (const replayed of [undefined, true]) {
      const { error, meta } = await clock.run(server.call('post', { text: 'a' }));
      expect(error).toMatchObject({ code: 'response_too_large', outcome: 'executed' });
      expect(meta.idempotency?.replayed).toBe(replayed);
    }
  });

  it('replays the error of a rejection whose data was too large to store', async () => {
    const refused = toolError('upstream_rejected', 'half', {
      outcome: 'not_executed',
      data: { ids: ['x'.repeat(2 ** 20)] },
    });
    const handler: Tool['handler'] = async (_, { operation }) => {
      await operation?.send(markOnly);
      return refused;
    };
    const { clock, start } = rig({ handlers: { thread: handler } });
    const server = start();
    const args = { posts: ['1'] };
    await clock.run(server.call('thread', args));
    const again = await clock.run(server.call('thread', args));
    expect(again.error).toMatchObject({ code: 'upstream_rejected', outcome: 'not_executed' });
    expect(again.meta.idempotency?.replayed).toBe(true);
  });
});

describe('an operation that was definitely not executed', () => {
  it.each([
    ['a limit', { answers: '429', commits: false }, 'rate_limited'],
    ['a refused connection', { refused: true }, 'upstream_unavailable'],
    ['a credential', { answers: '401', commits: false }, 'unauthorized'],
  ] as const)('because of %s can be tried again at once', async (_, plan, code) => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push(plan);
    const first = await clock.run(server.call('post', { text: 'a', idempotency_key }));
    expect(first).toMatchObject({ error: { code, outcome: 'not_executed' } });
    expect(first.error?.operation_id).toBeDefined();
    const again = await clock.run(server.call('post', { text: 'a', idempotency_key }));
    expect(again).toMatchObject({ success: true, meta: { idempotency: { replayed: false } } });
    expect(upstream.effects).toHaveLength(1);
  });

  it('is not reported as unknown when a read before the write failed', async () => {
    const lost = () => {
      throw Object.assign(new Error('x'), { fault: { kind: 'network', sent: 'maybe' } });
    };
    const bug = () => {
      throw new TypeError('a bug');
    };
    const { clock, start } = rig({
      handlers: {
        post: () => beforeSend(async () => lost()),
        post_seen: () => beforeSend(async () => bug()),
      },
    });
    const server = start();
    const read = await clock.run(server.call('post', { text: 'a' }));
    expect(read.error).toMatchObject({
      code: 'upstream_unavailable',
      retryable: true,
      outcome: 'not_executed',
    });
    const broken = await clock.run(server.call('post_seen', { text: 'a' }));
    expect(broken.error).toMatchObject({ code: 'internal_error', outcome: 'not_executed' });
  });
});

describe('an upstream answer that the handler cannot parse', () => {
  it('leaves the outcome unknown, and every call reports outcome_unknown', async () => {
    const { clock, start, store } = rig({
      handlers: {
        post: async (_, { operation }) => {
          await operation?.send(markOnly);
          return JSON.parse('{"id":') as object;
        },
      },
    });
    const server = start();
    for (const _ of [1, 2]) {
      const { error } = await clock.run(server.call('post', { text: 'a' }));
      expect(error).toMatchObject({
        code: 'outcome_unknown',
        outcome: 'unknown',
        details: { cause_code: 'internal_error' },
      });
      expect(await store.get(error?.operation_id ?? '')).toMatchObject({ state: 'unknown' });
    }
  });
});

describe('concurrent callers in one process', () => {
  it('are coalesced into one request and one result', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const calls = Array.from({ length: 25 }, () => server.call('post', { text: 'a' }));
    const answers = await clock.run(Promise.all(calls));
    expect(new Set(answers.map(({ data }) => JSON.stringify(data)))).toEqual(
      new Set(['{"id":"e1"}']),
    );
    expect(answers.filter(({ meta }) => meta.idempotency?.replayed)).toHaveLength(24);
    expect(upstream.requests).toBe(1);
  });

  it('keep their own deadlines', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ actsAfterMs: 5000 });
    const patient = server.call('post', { text: 'a' });
    await clock.advance(10);
    const began = clock.now();
    const hasty = await clock.run(server.call('post', { text: 'a' }, { timeoutMs: 1000 }));
    expect(clock.now() - began).toBeLessThanOrEqual(1000);
    expect(hasty).toMatchObject({ error: { code: 'idempotency_in_flight', retryable: true } });
    expect(hasty.error?.operation_id).toBeDefined();
    expect(await clock.run(patient)).toMatchObject({ data: { id: 'e1' } });
  });

  it('do not share a failure that concerns only the first caller', async () => {
    const { clock, start, upstream } = rig();
    const server = start({
      handlers: {
        post: async (_, { signal, operation }) => {
          // Reads until it is aborted.
          await beforeSend(async () => {
            await sleep(clock, 500);
            signal.throwIfAborted();
          });
          await operation?.send(markOnly);
          upstream.requests += 1;
          return { id: 'e1' };
        },
      },
    });
    const client = new AbortController();
    const leaving = server.call('post', { text: 'a' }, { client: client.signal });
    const staying = server.call('post', { text: 'a' });
    await clock.advance(100);
    client.abort();
    expect(await clock.run(leaving)).toMatchObject({ error: { code: 'cancelled' } });
    expect(await clock.run(staying)).toMatchObject({ success: true, data: { id: 'e1' } });
    expect(upstream.requests).toBe(1);
  });

  it('share a failure that concerns all of them instead of retrying one after the other', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: '429', commits: false });
    const calls = Array.from({ length: 5 }, () => server.call('post', { text: 'a' }));
    const answers = await clock.run(Promise.all(calls));
    expect(answers.every(({ error }) => error?.code === 'rate_limited')).toBe(true);
    expect(upstream.requests).toBe(1);
  });

  it('with other wording are not refused because of the first caller’s arguments', async () => {
    const { clock, start } = rig({
      decide: ({ args }) =>
        args['text'] === 'rude'
          ? { kind: 'deny', code: 'policy_denied_user_rule', rule: 'r', explanation: 'Rude.' }
          : { kind: 'allow', limits: [] },
    });
    const server = start();
    const calls = ['rude', 'kind'].map((text) => server.call('reply', { to: '1', text }));
    const answers = await clock.run(Promise.all(calls));
    expect(answers.map(({ success }) => success)).toEqual([false, true]);
  });

  it('get the real result after the first caller’s deadline passed', async () => {
    const { clock, start } = rig();
    // The handler continues past the first caller's deadline.
    const server = start({
      handlers: {
        post: async (_, { operation }) => {
          await operation?.send(markOnly);
          await sleep(clock, 3000);
          return { id: 'late' };
        },
      },
    });
    const hasty = server.call('post', { text: 'a' }, { timeoutMs: 1000 });
    const patient = server.call('post', { text: 'a' });
    expect(await clock.run(hasty)).toMatchObject({ error: { code: 'outcome_unknown' } });
    expect(await clock.run(patient)).toMatchObject({ success: true, data: { id: 'late' } });
  });
});
