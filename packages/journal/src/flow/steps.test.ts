import { describe, expect, it } from 'vitest';
import { JournalError } from '../error.js';
import { keyFor, markOnly, rig, sleep } from '../fixtures/rig.fixture.js';

const thread = { posts: ['1', '2', '3'], idempotency_key: keyFor('t') };

/** The posts of the thread at the upstream, in order. */
const posted = (effects: readonly { readonly subject: string }[]): string =>
  effects.map(({ subject }) => subject).join(' ');

describe('a thread', () => {
  it('that stops at a rate limit resumes there, however late, and posts nothing twice', async () => {
    const { clock, start, upstream } = rig({ retentionMs: 60_000 });
    const server = start();
    server.journal.start();
    upstream.plans.push({}, { answers: '429', commits: false });
    const first = await clock.run(server.call('thread', thread));
    expect(first).toMatchObject({
      data: { ids: ['e1'] },
      error: { code: 'thread_partial_failure', retryable: true, details: { posted: 1 } },
    });
    expect(first.error).not.toHaveProperty('outcome');
    // It is not listed as not_executed either: a part of it was executed.
    const [halfDone] = await server.journal.operations.list();
    expect(halfDone).toMatchObject({ state: 'claimed', code: 'thread_partial_failure' });
    expect(halfDone).not.toHaveProperty('outcome');
    // Longer than the retention of settled operations.
    await clock.advance(7_200_000);
    const again = await clock.run(server.call('thread', thread));
    expect(again).toMatchObject({ success: true, data: { ids: ['e1', 'e2', 'e3'] } });
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it('resumes in another process', async () => {
    const { clock, start, upstream } = rig();
    upstream.plans.push({}, { refused: true });
    await clock.run(start().call('thread', thread));
    expect(await clock.run(start().call('thread', thread))).toMatchObject({ success: true });
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it('resumes with its stored arguments, whatever the wording of the repeat', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({}, { answers: '429', commits: false });
    await clock.run(server.call('thread_named', { name: 'n', posts: ['One', 'Two'] }));
    const again = await clock.run(
      server.call('thread_named', { name: 'n', posts: ['Uno', 'Due', 'Tre'] }),
    );
    expect(again).toMatchObject({ success: true, data: { ids: ['e1', 'e2'] } });
    expect(posted(upstream.effects)).toBe('One Two');
  });

  it('that the policy denies meanwhile sends nothing, and still reports the posted steps', async () => {
    let isForbidden = false;
    const { clock, start, store, upstream } = rig({
      decide: () =>
        isForbidden
          ? { kind: 'deny', code: 'policy_denied_hard_rule', rule: 'stop', explanation: 'Stop.' }
          : { kind: 'allow', limits: [] },
    });
    const first = start();
    upstream.plans.push({}, { answers: 'never' });
    void first.call('thread', thread);
    await clock.advance(100);
    first.kill();
    isForbidden = true;
    const { error } = await clock.run(start().call('thread', thread));
    expect(error).toMatchObject({ code: 'policy_denied_hard_rule' });
    const [operation] = await store.list();
    expect(operation).toMatchObject({ state: 'claimed' });
    expect(operation?.steps.map(({ state }) => state)).toEqual(['done', 'done']);
    expect(posted(upstream.effects)).toBe('1 2');
    isForbidden = false;
    expect(await clock.run(start().call('thread', thread))).toMatchObject({ success: true });
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it('whose step’s answer was lost reads it back and continues in the same call', async () => {
    const { clock, start, upstream } = rig();
    upstream.plans.push({}, { answers: 'reset' });
    const answer = await clock.run(start().call('thread', thread));
    expect(answer).toMatchObject({ success: true, data: { ids: ['e1', 'e2', 'e3'] } });
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it.each([
    ['arrived', true],
    ['did not arrive', false],
  ])('killed during a step that %s resumes correctly', async (_, commits) => {
    const { clock, start, upstream } = rig();
    const first = start();
    upstream.plans.push({}, { commits, answers: 'never' });
    void first.call('thread', thread);
    await clock.advance(100);
    first.kill();
    const second = start();
    const soon = await clock.run(second.call('thread', thread));
    // The upstream may still act on it for a moment, so absence proves nothing yet.
    expect(soon.error?.code).toBe(commits ? undefined : 'outcome_unknown');
    await clock.advance(600);
    const again = await clock.run(second.call('thread', thread));
    expect(again).toMatchObject({ success: true, data: { ids: ['e1', 'e2', 'e3'] } });
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it.each([2, 3])('killed during a step resumes once, for %i concurrent callers', async (n) => {
    const { clock, start, upstream } = rig();
    const first = start();
    upstream.plans.push({}, { answers: 'never' });
    void first.call('thread', thread);
    await clock.advance(100);
    first.kill();
    await clock.advance(20_000);
    const answers = Array.from({ length: n }, () => start().call('thread', thread));
    for (const answer of await Promise.all(answers.map((each) => clock.run(each)))) {
      expect(answer).toMatchObject({ success: true, data: { ids: ['e1', 'e2', 'e3'] } });
    }
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it('killed after the send was granted, before any byte: the step is sent once', async () => {
    const { clock, start, upstream } = rig();
    let sends = 0;
    const first = start({
      through: (inner) => ({
        ...inner,
        send: async (...given) => {
          const sent = await inner.send(...given);
          sends += 1;
          if (sends === 2) first.kill();
          return sent;
        },
      }),
    });
    void first.call('thread', thread);
    await clock.advance(1000);
    const second = start();
    await clock.run(second.call('thread', thread));
    await clock.advance(600);
    const again = await clock.run(second.call('thread', thread));
    expect(again).toMatchObject({ success: true, data: { ids: ['e1', 'e2', 'e3'] } });
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it('stopped during a step: no other process resumes it, and its own outcome counts', async () => {
    const { clock, start, upstream } = rig();
    let sends = 0;
    const first = start({
      through: (inner) => ({
        ...inner,
        send: async (...given) => {
          const sent = await inner.send(...given);
          sends += 1;
          if (sends === 2) first.stop();
          return sent;
        },
      }),
    });
    const stopped = first.call('thread', thread, { timeoutMs: 300_000 });
    await clock.advance(60_000);
    const other = start();
    expect(await clock.run(other.call('thread', thread))).toMatchObject({
      error: { code: 'outcome_unknown' },
    });
    first.resume();
    await clock.run(stopped);
    const again = await clock.run(other.call('thread', thread));
    expect(again).toMatchObject({ success: true, data: { ids: ['e1', 'e2', 'e3'] } });
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it('that cannot be read back stays unknown and reports the posted steps', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start();
    upstream.plans.push({}, { answers: 'reset' });
    const first = await clock.run(server.call('thread_blind', thread));
    expect(first).toMatchObject({ data: { ids: ['e1'] }, error: { code: 'outcome_unknown' } });
    const again = await clock.run(server.call('thread_blind', thread));
    expect(again).toMatchObject({ error: { code: 'outcome_unknown' } });
    expect(await store.get(first.error?.operation_id ?? '')).toMatchObject({ state: 'unknown' });
    expect(posted(upstream.effects)).toBe('1 2');
  });

  it('whose first post is rejected is rejected, and repeats get that answer', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: '400', commits: false });
    for (const replayed of [undefined, true]) {
      const { error, meta } = await clock.run(server.call('thread', thread));
      expect(error).toMatchObject({ code: 'upstream_rejected', outcome: 'not_executed' });
      expect(meta.idempotency?.replayed).toBe(replayed);
    }
    expect(upstream.requests).toBe(1);
  });

  it.each(['reset', 'never', '503'] as const)(
    'whose first post did not arrive, as a read-back proves (%s), can be posted again',
    async (answers) => {
      const { clock, start, upstream, store } = rig();
      const server = start();
      upstream.plans.push({ answers, commits: false });
      const { error } = await clock.run(server.call('thread_prompt', thread));
      expect(error).toMatchObject({ outcome: 'not_executed', retryable: true });
      expect(await store.get(error?.operation_id ?? '')).toMatchObject({ state: 'released' });
      const again = await clock.run(server.call('thread_prompt', thread));
      expect(again).toMatchObject({ success: true, data: { ids: ['e1', 'e2', 'e3'] } });
      expect(posted(upstream.effects)).toBe('1 2 3');
    },
  );

  it('stops when the result of a step cannot be written, and writes it later', async () => {
    let isDown: boolean | undefined = false;
    const { clock, start, upstream } = rig({
      through: (inner) => ({
        ...inner,
        completeStep: (...given) => {
          if (isDown === false) isDown = given[1] === 'post 1';
          return isDown
            ? Promise.reject(new JournalError('full', 'the disk is full'))
            : inner.completeStep(...given);
        },
      }),
    });
    const server = start();
    const first = await clock.run(server.call('thread_blind', thread));
    expect(first.error).toMatchObject({ code: 'db_error', retryable: true });
    expect(first.error).not.toHaveProperty('outcome');
    expect(posted(upstream.effects)).toBe('1 2');
    isDown = undefined;
    await clock.advance(60_000);
    const again = await clock.run(server.call('thread_blind', thread));
    expect(again).toMatchObject({ success: true, data: { ids: ['e1', 'e2', 'e3'] } });
  });

  it('runs no further step, not even one without a send, before that is written', async () => {
    const { clock, start } = rig();
    const ran: string[] = [];
    const server = start({
      through: (inner) => ({
        ...inner,
        completeStep: () => Promise.reject(new JournalError('full', 'the disk is full')),
      }),
      handlers: {
        thread: async (_, { operation }) => {
          for (const name of ['a', 'b']) {
            await operation?.step(name, async () => {
              if (name === 'a') await operation.send(markOnly);
              ran.push(name);
            });
          }
          return { ids: [] };
        },
      },
    });
    expect(await clock.run(server.call('thread', thread))).toMatchObject({
      error: { code: 'db_error' },
    });
    expect(ran).toEqual(['a']);
  });

  it('succeeds when only the write of its last step failed, and writes it later', async () => {
    let isDown = true;
    const { clock, start, store } = rig({
      through: (inner) => ({
        ...inner,
        completeStep: (...given) =>
          isDown && given[1] === 'post 2'
            ? Promise.reject(new JournalError('full', 'the disk is full'))
            : inner.completeStep(...given),
      }),
    });
    const server = start();
    const first = await clock.run(server.call('thread_blind', thread));
    expect(first).toMatchObject({ success: true, data: { ids: ['e1', 'e2', 'e3'] } });
    isDown = false;
    await clock.advance(60_000);
    const [operation] = await store.list();
    expect(operation).toMatchObject({ state: 'succeeded' });
    expect(operation?.steps.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
  });

  it('whose send grant was lost has sent nothing, and sends later', async () => {
    let isDown = true;
    const { clock, start, upstream } = rig({
      through: (inner) => ({
        ...inner,
        send: async (fencingToken, request) => {
          const sent = await inner.send(fencingToken, request);
          if (isDown && request.step === 'post 1') throw new JournalError('unavailable', 'lost');
          return sent;
        },
      }),
    });
    const server = start();
    expect(await clock.run(server.call('thread_blind', thread))).toMatchObject({
      error: { code: 'db_error' },
    });
    isDown = false;
    const again = await clock.run(server.call('thread_blind', thread));
    expect(again).toMatchObject({ success: true });
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it('whose deadline passes while a step’s send is recorded does not send it', async () => {
    const { clock, start, upstream } = rig();
    const slow = start({
      through: (inner) => ({
        ...inner,
        send: async (fencingToken, request) => {
          const sent = await inner.send(fencingToken, request);
          if (request.step === 'post 1') await sleep(clock, 3000);
          return sent;
        },
      }),
    });
    const { error } = await clock.run(slow.call('thread_blind', thread, { timeoutMs: 2000 }));
    expect(error).toMatchObject({ code: 'timeout', retryable: true });
    expect(error).not.toHaveProperty('outcome');
    await clock.advance(5000);
    expect(posted(upstream.effects)).toBe('1');
    expect(await clock.run(start().call('thread_blind', thread))).toMatchObject({ success: true });
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it('is not aborted by a client that disconnects while sending', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const client = new AbortController();
    const left = server.call('thread', thread, { client: client.signal });
    await clock.advance(10);
    client.abort();
    await clock.run(left);
    await clock.advance(1000);
    expect(posted(upstream.effects)).toBe('1 2 3');
  });

  it('runs no other step while one is open, even if the handler takes another path', async () => {
    const { clock, start } = rig();
    const first = start({
      handlers: {
        thread: async (_, { operation }) => {
          await operation?.step('a', async () => {
            await operation.send(markOnly);
            first.kill();
            return new Promise<never>(() => undefined);
          });
          return { ids: [] };
        },
      },
    });
    void first.call('thread', thread);
    await clock.advance(10);
    const ran: string[] = [];
    const second = start({
      handlers: {
        thread: async (_, { operation }) => {
          const look = {
            authoritative: true,
            readBack: async () => ({ found: 'absent' }) as const,
          };
          await operation?.step('b', async () => void ran.push('b'), look);
          return { ids: [] };
        },
      },
    });
    expect(await clock.run(second.call('thread', thread))).toMatchObject({
      error: { code: 'outcome_unknown' },
    });
    expect(ran).toEqual([]);
  });

  it('runs steps sequentially: a concurrent step is refused, and the first is not lost', async () => {
    const { clock, start, store } = rig();
    const server = start({
      handlers: {
        thread: async (_, { operation }) => {
          const never = new Promise<never>(() => undefined);
          void operation?.step('a', async () => {
            await operation.send(markOnly);
            return never;
          });
          await sleep(clock, 100);
          await operation?.step('b', () => never);
          return { ids: [] };
        },
      },
    });
    const { error } = await clock.run(server.call('thread', thread));
    expect(error).toMatchObject({ outcome: 'unknown', operation_id: expect.any(String) });
    expect((await store.list())[0]).toMatchObject({ state: 'unknown', steps: [{ name: 'a' }] });
  });
});
