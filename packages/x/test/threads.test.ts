import { raise, toolError } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { recordingJournal } from '@toolkeel/pack-kit/testing';
import { created, useSandbox } from './support/rig.js';

const sandboxWorld = useSandbox();
/** Nothing times out, also not on a busy machine. */
const fast = { toolTimeoutSecs: 40, attemptTimeoutSecs: 20 };
const tweets = ['one', 'two & more', 'three https://example.com'];

describe('a partial thread', () => {
  it('reports the posted and failed parts, the reason and the time to wait', async () => {
    const { rig, sandbox } = await sandboxWorld({}, fast);
    sandbox.setFaults([{ kind: 'x-429-window', routes: ['create-post'], skip: 1, times: 1 }]);
    const book = recordingJournal();
    const envelope = await rig.run('x_post_thread', { tweets }, book);
    const [first] = created(sandbox);
    expect(envelope).toMatchObject({
      success: false,
      data: {
        posted: [{ index: 0, id: first?.id }],
        failed: { index: 1, code: 'x_rate_limited', retry_after_ms: expect.any(Number) as number },
        unposted: 2,
      },
      error: {
        code: 'thread_partial_failure',
        retryable: true,
        retry_after_ms: expect.any(Number) as number,
        details: { posted: 1, failed_at_index: 1, cause_code: 'x_rate_limited' },
      },
    });
    expect(envelope.success ? '' : envelope.error.outcome).toBeUndefined();
  });

  it('resumes at the first part that is not posted', async () => {
    const { rig, sandbox, another } = await sandboxWorld({}, fast);
    const book = recordingJournal();
    sandbox.setFaults([
      { kind: 'x-403-not-permitted', routes: ['create-post'], skip: 1, times: 1 },
    ]);
    expect(await rig.code('x_post_thread', { tweets }, book)).toBe('thread_partial_failure');
    const later = await another();
    const data = await later.data('x_post_thread', { tweets }, book);
    const made = created(sandbox);
    expect(made.map(({ text }) => text)).toEqual(tweets);
    expect(data['tweets']).toMatchObject(made.map(({ id }) => ({ id })));
    expect(made[2]).toMatchObject({ reply_to: made[1]?.id });
  });

  it('reads back a part with an unknown outcome and resumes after it', async () => {
    const { rig, sandbox, another } = await sandboxWorld({}, fast);
    const book = recordingJournal();
    sandbox.setLag(60_000);
    sandbox.setFaults([{ kind: 'acted-http-503', routes: ['create-post'], skip: 1, times: 1 }]);
    const envelope = await rig.run('x_post_thread', { tweets }, book);
    // Unlike a journal, the recordingJournal does not read back in the same call.
    expect(envelope).toMatchObject({
      data: { posted: [{ index: 0 }], unknown: { index: 1, code: 'x_api_error' }, unposted: 1 },
      error: { code: 'outcome_unknown', outcome: 'unknown' },
    });
    const { failed, unknown } = envelope.data as { failed?: unknown; unknown?: object };
    expect(failed).toBeUndefined();
    expect(JSON.stringify(unknown)).not.toContain('Try again');
    sandbox.setLag(0);
    const data = await (await another()).data('x_post_thread', { tweets }, book);
    const made = created(sandbox);
    expect(made.map(({ text }) => text)).toEqual(tweets);
    expect(data['tweets']).toMatchObject(made.map(({ id }) => ({ id })));
  });

  it('that failed at its first part returns the cause itself', async () => {
    const { rig, sandbox } = await sandboxWorld({}, fast);
    sandbox.setFaults([{ kind: 'x-429-window', routes: ['create-post'], times: 1 }]);
    expect(await rig.error('x_post_thread', { tweets }, recordingJournal())).toMatchObject({
      code: 'x_rate_limited',
      outcome: 'not_executed',
      retry_after_ms: expect.any(Number) as number,
    });
  });

  it('without a journal says how to continue', async () => {
    const { rig, sandbox } = await sandboxWorld({}, fast);
    sandbox.setFaults([
      { kind: 'x-403-not-permitted', routes: ['create-post'], skip: 1, times: 1 },
    ]);
    const refused = await rig.run('x_post_thread', { tweets });
    const [first] = created(sandbox);
    expect(refused).toMatchObject({
      data: { posted: [{ index: 0, id: first?.id }], failed: { index: 1 }, unposted: 2 },
      error: { message: expect.stringContaining(`in reply to ${first?.id}`) as string },
    });
    sandbox.setFaults([{ kind: 'reset-after-read', routes: ['create-post'], skip: 1, times: 1 }]);
    const lost = await rig.run('x_post_thread', { tweets: ['four', 'five', 'six'] });
    expect(lost).toMatchObject({
      data: { posted: [{ index: 0 }], unknown: { index: 1 }, unposted: 1 },
      error: { code: 'outcome_unknown', outcome: 'unknown' },
    });
    expect(JSON.stringify(lost.data)).toContain(`among the replies to ${created(sandbox)[1]?.id}`);
  });

  it('stops before a part without enough time', async () => {
    const { rig, sandbox } = await sandboxWorld(
      { latency: { fixedMs: 500 } },
      { toolTimeoutSecs: 4, attemptTimeoutSecs: 4 },
    );
    const letters = [...'abcdefgh'];
    const error = await rig.error('x_post_thread', { tweets: letters }, recordingJournal());
    expect(error).toMatchObject({
      code: 'thread_partial_failure',
      details: { cause_code: 'x_network_error' },
    });
    expect(created(sandbox).length).toBeLessThan(letters.length);
  });
});

describe('a thread that is called again', () => {
  it('resumes after a part that X rejects as a duplicate of itself', async () => {
    const { rig, sandbox } = await sandboxWorld({}, fast);
    const book = recordingJournal();
    sandbox.setFaults([{ kind: 'acted-http-503', routes: ['create-post'], skip: 1, times: 1 }]);
    await rig.run('x_post_thread', { tweets }, book);
    // An operator settled it as not posted.
    book.steps.delete('post 2');
    const data = await rig.data('x_post_thread', { tweets }, book);
    const made = created(sandbox);
    expect(made.map(({ text }) => text)).toEqual(tweets);
    expect(data['tweets']).toMatchObject(made.map(({ id }) => ({ id })));
    expect(made[2]).toMatchObject({ reply_to: made[1]?.id });
  });

  it('reports whether the same call can resume', async () => {
    const { rig, sandbox } = await sandboxWorld({}, fast);
    const rule = { routes: ['create-post'], skip: 1, times: 1 } as const;
    sandbox.setFaults([{ kind: 'x-403-not-permitted', ...rule }]);
    const refused = await rig.error('x_post_thread', { tweets }, recordingJournal());
    expect(refused).toMatchObject({
      code: 'thread_partial_failure',
      details: { cause_code: 'x_forbidden' },
    });
    expect(refused.message).toMatch(/Tweet 2 is not: .* fails again until the cause is fixed/);
    expect(refused.message).not.toContain('The same call resumes there.');
    sandbox.setFaults([{ kind: 'x-429-window', ...rule }]);
    const limited = await rig.error('x_post_thread', { tweets: [...'abc'] }, recordingJournal());
    expect(limited.message).toContain('The same call resumes there.');
  });

  it('reports a part that was deleted since', async () => {
    const { rig, sandbox } = await sandboxWorld({}, fast);
    const book = recordingJournal();
    await rig.data('x_post_thread', { tweets }, book);
    const id = created(sandbox)[1]?.id;
    const deleted = { tool: 'x_delete_tweet', args: {}, results: [{ id, deleted: true }] };
    book.others = async (names) => (names?.includes('x_delete_tweet') ? [deleted] : []);
    expect(await rig.run('x_post_thread', { tweets }, book)).toMatchObject({
      data: { posted: [{ index: 0 }, { index: 2 }], failed: { index: 1 }, unposted: 1 },
      error: { code: 'not_found', details: { id } },
    });
  });

  it.each([1, 3])(
    'sends nothing while the journal cannot determine deletions: after %i',
    async (count) => {
      const { rig, sandbox } = await sandboxWorld({}, fast);
      const book = recordingJournal();
      const fault = { kind: 'x-403-not-permitted', routes: ['create-post'], times: 1 } as const;
      if (count < 3) sandbox.setFaults([{ ...fault, skip: count }]);
      await rig.run('x_post_thread', { tweets }, book);
      book.others = () => Promise.reject(new Error('too much was done'));
      const again = await rig.run('x_post_thread', { tweets }, book);
      expect(created(sandbox)).toHaveLength(count);
      expect(again).toMatchObject({
        data: { posted: created(sandbox).map(({ id }) => ({ id })), unposted: 3 - count },
        error: {
          code: count < 3 ? 'thread_partial_failure' : 'db_error',
          message: expect.stringContaining(
            'could not determine whether a part was deleted',
          ) as string,
          retryable: true,
        },
      });
      book.others = async () => [];
      await rig.data('x_post_thread', { tweets }, book);
      expect(created(sandbox)).toHaveLength(3);
    },
  );
});

describe('recording a write', () => {
  it('happens directly before each write and after the connection is open', async () => {
    const { rig, sandbox } = await sandboxWorld({ tier: 'enterprise' }, fast);
    const book = recordingJournal();
    await rig.data('x_post_thread', { tweets }, book);
    expect(book.sends.map(({ step }) => step)).toEqual(['post 1', 'post 2', 'post 3']);
    const other = recordingJournal();
    await rig.data('x_like_tweet', { tweet_id: sandbox.landmarks.unaskedPostId }, other);
    expect(other.sends).toHaveLength(1);
    const unsent = recordingJournal();
    await sandbox.setReachable(false);
    await rig.code('x_post_tweet', { text: 'nobody home' }, unsent);
    expect(unsent.sends).toEqual([]);
  });

  it('can be refused: nothing is sent, and the reason is returned unchanged', async () => {
    const { rig, sandbox } = await sandboxWorld({}, fast);
    const book = recordingJournal();
    book.refuse = () =>
      raise(
        toolError('policy_denied_rate_limited', 'Enough for today.', { outcome: 'not_executed' }),
      );
    expect(await rig.error('x_post_tweet', { text: 'a' }, book)).toMatchObject({
      code: 'policy_denied_rate_limited',
      outcome: 'not_executed',
    });
    expect(sandbox.log({ route: 'create-post' })).toEqual([]);
    expect(sandbox.commits()).toEqual([]);
  });
});
