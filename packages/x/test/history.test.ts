import { systemClock } from '@toolkeel/kernel';
import type { Handler } from '@toolkeel/pack-kit/testing';
import { describe, expect, it } from 'vitest';
import {
  errorEnvelope,
  successEnvelope,
  toolError,
  type PackOperation,
  type PackWorkflow,
} from '@toolkeel/contract';
import { createClient } from '../src/api/client.js';
import { configSchema } from '../src/index.js';
import {
  findAuthor,
  POSTS,
  rememberAuthor,
  repliesSince,
  syncPosts,
  type MadePost,
} from '../src/workflow/history.js';
import { measurePosts, performanceScore } from '../src/workflow/measure.js';
import { maintain } from '../src/workflow/upkeep.js';
import { compose } from '../src/workflow/drafts.js';
import { authorRules } from '../src/workflow/hard-rules.js';
import { emptyWorkflow, secrets, useWorld } from './support/rig.js';

const { serve, onClose } = useWorld();

const meta = {
  toolVersion: '1',
  elapsedMs: 0,
  retryCount: 0,
  correlationId: 'c',
  profile: { name: 'workflow', mode: 'autopilot', approvalMode: false },
} as const;
/** The answer of the journal to a scheduled call. */
const scheduledAnswer = errorEnvelope(
  { ...toolError('idempotency_in_flight', 'Scheduled.').input, operationId: 'op_9' },
  meta,
);
const HOUR = 3_600_000;
const account = 'x:12';

const operation = (id: string, more: Partial<PackOperation> = {}): PackOperation => ({
  id,
  tool: 'x_post_tweet',
  account,
  state: 'succeeded',
  outcome: 'executed',
  created_at: new Date(Date.now() - 30 * HOUR).toISOString(),
  settled_at: new Date(Date.now() - 30 * HOUR).toISOString(),
  arguments: { text: id },
  answer: { data: { id: id.slice(3), text: id } },
  ...more,
});

const NOTHING = { data: [] };

async function world(
  operations: readonly PackOperation[],
  reply:
    | Readonly<Record<string, unknown>>
    | ((params: URLSearchParams, path: string) => ReturnType<Handler>) = NOTHING,
  more: Partial<PackWorkflow> = {},
  settings: object = {},
) {
  const server = await serve(({ path, params }) => {
    if (path.startsWith('/2/users/me')) return { json: { data: { id: '12', username: 'me' } } };
    return typeof reply === 'function' ? reply(params, path) : { json: reply };
  });
  const calls: object[] = [];
  const base = emptyWorkflow();
  const withdrawn: string[] = [];
  const asked: (readonly string[] | undefined)[] = [];
  const workflow: PackWorkflow = {
    ...base,
    call: (tool, args, { idempotencyKey, schedule } = {}) => {
      calls.push({ tool, args, idempotencyKey, schedule });
      return Promise.resolve(scheduledAnswer);
    },
    ...more,
    operations: {
      ...base.operations,
      show: (id) => Promise.resolve(operations.find((known) => known.id === id)),
      withdraw: (id) => {
        withdrawn.push(id);
        return Promise.resolve(true);
      },
      list: ({ states, settledSince = 0 }) => {
        asked.push(states);
        return Promise.resolve(
          operations.filter(
            ({ state, settled_at: at = '' }) =>
              states?.includes(state) && (state === 'claimed' || Date.parse(at) >= settledSince),
          ),
        );
      },
    },
  };
  const config = configSchema.parse({
    baseUrl: server.origin,
    accessToken: { env: 'USER' },
    workflow: settings,
  });
  const deps = { now: () => performance.now(), random: () => 0, log: () => {}, observe: () => {} };
  const client = createClient(config, {
    ...deps,
    env: secrets,
    readBackMs: 8000,
    clock: systemClock,
    workflow,
  });
  onClose(() => client.close());
  const context = {
    signal: new AbortController().signal,
    deadline: Infinity,
    correlationId: 'c',
    noteRetry: () => undefined,
  };
  const posts = async () =>
    (await workflow.records.list<MadePost>({ kind: POSTS, account, order: 'oldest' })).map(
      ({ id, state, data }) => ({ id, state, kind: data.kind, score: data.performance?.score }),
    );
  return { client, context, posts, server, calls, withdrawn, records: workflow.records };
}

describe('the history of posts', () => {
  it('records what the journal executed, once, and what was deleted', async () => {
    const { client, context, posts } = await world([
      operation('op_1'),
      operation('op_2', {
        tool: 'x_post_thread',
        arguments: { tweets: ['a', 'b'] },
        answer: { data: { root_id: '20', tweets: [{ id: '20' }, { id: '21' }] } },
      }),
      operation('op_3', { state: 'reconciled', outcome: 'not_executed' }),
      operation('op_4', {
        tool: 'x_post_thread',
        state: 'claimed',
        arguments: { tweets: ['c', 'd'] },
        answer: { data: { posted: [{ index: 0, id: '40' }], unposted: 1 } },
      }),
      operation('op_5', {
        tool: 'x_delete_tweet',
        settled_at: new Date().toISOString(),
        arguments: { tweet_id: '1' },
        answer: { data: { id: '1', deleted: true } },
      }),
    ]);
    for (const _again of [1, 2]) await syncPosts(client, account, context);
    expect(await posts()).toEqual([
      { id: '1', state: 'deleted', kind: 'post' },
      { id: '20', state: 'open', kind: 'thread' },
      { id: '21', state: 'open', kind: 'thread' },
      { id: '40', state: 'open', kind: 'thread' },
    ]);
  });

  it('measures a post once, a day later, and leaves younger ones unmeasured', async () => {
    const young = new Date(Date.now() - HOUR).toISOString();
    const metrics = { like_count: 2, reply_count: 1, retweet_count: 1, impression_count: 100 };
    const { client, context, posts, server } = await world(
      [operation('op_1'), operation('op_2'), operation('op_3', { settled_at: young })],
      { data: [{ id: '1', text: 'op_1', public_metrics: metrics }], meta: { result_count: 1 } },
    );
    await syncPosts(client, account, context);
    await measurePosts(client, account, context);
    const measured = [
      { id: '1', state: 'measured', kind: 'post', score: 150 },
      { id: '2', state: 'deleted', kind: 'post' },
      { id: '3', state: 'open', kind: 'post' },
    ];
    expect(await posts()).toEqual(measured);
    const { length } = server.requests;
    await measurePosts(client, account, context);
    expect(await posts()).toEqual(measured);
    expect(server.requests).toHaveLength(length);
  });

  it('does not count a metric that X did not return as zero', async () => {
    const { client, context, posts, records } = await world(
      [operation('op_1'), operation('op_2')],
      {
        data: [
          { id: '1', text: 'op_1', public_metrics: { like_count: 2, reply_count: 0 } },
          { id: '2', text: 'op_2' },
        ],
        meta: { result_count: 2 },
      },
    );
    await syncPosts(client, account, context);
    await measurePosts(client, account, context);
    expect(await posts()).toEqual([
      { id: '1', state: 'measured', kind: 'post', score: undefined },
      { id: '2', state: 'measured', kind: 'post', score: undefined },
    ]);
    const [first, second] = await Promise.all(
      ['1', '2'].map(async (id) => (await records.get<MadePost>(POSTS, account, id))?.data),
    );
    expect(first?.performance).toEqual({
      measured_at: expect.any(Number) as number,
      likes: 2,
      replies: 0,
    });
    expect(second?.performance).toEqual({ measured_at: expect.any(Number) as number });
  });

  it('counts more replies of a day than one page of records', async () => {
    const { client, context, records } = await world([]);
    const at = Date.now();
    const author = { id: '5' };
    for (let index = 0; index < 1005; index += 1) {
      const data = {
        kind: 'reply',
        tool: 'x_reply_to_tweet',
        operation_id: 'op',
        text: '',
        author,
      };
      await records.put({ kind: POSTS, account, id: String(index), at, state: 'deleted', data });
    }
    expect(await repliesSince(client, account, HOUR, context)).toHaveLength(1005);
  });

  it('does not ask X for an author that is known', async () => {
    const { client, context, records, server } = await world([]);
    await rememberAuthor(records, account, '77', { id: '5', username: 'ada' });
    expect(await findAuthor(client, account, '77', context)).toEqual({ id: '5', username: 'ada' });
    expect(server.requests).toEqual([]);
    await expect(findAuthor(client, account, '78', context)).rejects.toThrow();
  });

  const toTweet = (id: string, more: Partial<PackOperation> = {}) =>
    operation(id, {
      tool: 'x_reply_to_tweet',
      arguments: { text: id, in_reply_to_id: '77' },
      settled_at: new Date().toISOString(),
      ...more,
    });

  it('records a reply that an operator settled as executed without its data', async () => {
    const author = { id: '77', text: '', author_id: '5' };
    const { client, context, posts, records } = await world(
      [toTweet('op_1', { state: 'reconciled', answer: {} })],
      { data: author, includes: { users: [{ id: '5', username: 'ada' }] } },
    );
    for (const _again of [1, 2]) await syncPosts(client, account, context);
    expect(await posts()).toEqual([{ id: 'op_1', state: 'unnamed', kind: 'reply' }]);
    expect((await records.get<MadePost>(POSTS, account, 'op_1'))?.data).toMatchObject({
      target_id: '77',
      author: { id: '5' },
    });
    expect(await repliesSince(client, account, HOUR, context)).toHaveLength(1);
  });

  it('does not forget the author of a reply because X failed when it was recorded', async () => {
    let isDown = true;
    const { client, context } = await world([toTweet('op_1'), toTweet('op_2')], () =>
      isDown
        ? { status: 500, json: {} }
        : {
            json: {
              data: { id: '77', text: '', author_id: '5' },
              includes: { users: [{ id: '5', username: 'ada' }] },
            },
          },
    );
    await syncPosts(client, account, context);
    // A cap that cannot be counted must not be taken for zero.
    await expect(repliesSince(client, account, HOUR, context)).rejects.toThrow();
    isDown = false;
    const replies = await repliesSince(client, account, HOUR, context);
    expect(replies.map(({ data }) => data.author?.id)).toEqual(['5', '5']);
  });

  it('does not ask X again for the author of a tweet that is gone', async () => {
    const { client, context, server } = await world([toTweet('op_1')], () => ({
      status: 404,
      json: { title: 'Not Found Error' },
    }));
    expect(await repliesSince(client, account, HOUR, context)).toHaveLength(1);
    const { length } = server.requests;
    expect(await repliesSince(client, account, HOUR, context)).toHaveLength(1);
    expect(server.requests).toHaveLength(length);
  });

  it('does not remember an author without a name, and cannot decide about it', async () => {
    const { client, context, records } = await world(
      [],
      { data: { id: '77', text: '', author_id: '5' } },
      {},
      { blockedAuthors: ['@ada'] },
    );
    const rules = () =>
      authorRules(
        client,
        { tweetId: '77', isReply: true },
        { ...context, account: 'default', approved: false, accountId: async () => account },
      );
    await expect(rules()).rejects.toThrow('without a name');
    expect(await records.get('author', account, '77')).toBeUndefined();
  });

  it('does not take a post for deleted that a timeline without an end has not shown', async () => {
    const { client, context, posts } = await world([operation('op_1')], {
      data: [{ id: '999', text: '' }],
      meta: { result_count: 1, next_token: 'more' },
    });
    await syncPosts(client, account, context);
    await measurePosts(client, account, context);
    expect(await posts()).toMatchObject([{ id: '1', state: 'open' }]);
  });

  it('knows a repost of an own tweet as that tweet', async () => {
    const referenced_tweets = [{ type: 'retweeted', id: '70' }];
    const { client, context } = await world([], (_, path) => ({
      json: path.endsWith('/70')
        ? {
            data: { id: '70', text: '', author_id: '12' },
            includes: { users: [{ id: '12', username: 'me' }] },
          }
        : { data: { id: '77', text: '', author_id: '5', referenced_tweets } },
    }));
    const rules = authorRules(
      client,
      { tweetId: '77', isReply: true },
      { ...context, account: 'default', approved: false, accountId: async () => account },
    );
    expect(await rules).toMatchObject({ denied: { rule: 'self-reply' } });
  });

  it('reads an operation again that was committed a little after the cursor', async () => {
    const operations = [operation('op_1')];
    const { client, context, posts } = await world(operations);
    await syncPosts(client, account, context);
    const late = new Date(Date.parse(operations[0]!.settled_at!) - 30_000).toISOString();
    operations.push(operation('op_2', { settled_at: late }));
    await syncPosts(client, account, context);
    expect(await posts()).toHaveLength(2);
  });

  it('reaches the oldest of more posts than it reads at once, and takes none for deleted', async () => {
    const old = Date.now() - 40 * HOUR;
    const at = (minutes: number) => new Date(old + minutes * 60_000).toISOString();
    const made = Array.from({ length: 8 }, (_, index) =>
      operation(`op_${index}`, { settled_at: at(index * 10) }),
    );
    // The timeline has hundreds of other posts after the first of these.
    const { client, context, posts } = await world(made, (params) => {
      const end = Date.parse(params.get('end_time') ?? '');
      const isShort = end < old + 5 * 60_000;
      const meta = isShort ? { result_count: 1 } : { result_count: 1, next_token: 'more' };
      const shown = isShort ? { id: '0', text: '' } : { id: '999', text: '' };
      return { json: { data: [shown], meta } };
    });
    await syncPosts(client, account, context);
    await measurePosts(client, account, context);
    const states = (await posts()).map(({ state }) => state);
    expect(states).toEqual(['measured', ...Array<string>(7).fill('open')]);
  });

  it('scores replies above reposts above likes, per thousand impressions', () => {
    const none = { likes: 0, replies: 0, reposts: 0, impressions: 0 };
    expect(performanceScore(none)).toBe(0);
    expect(performanceScore({ ...none, likes: 1, impressions: 1000 })).toBe(3);
    expect(performanceScore({ ...none, reposts: 1, impressions: 1000 })).toBe(4);
    expect(performanceScore({ ...none, replies: 1, impressions: 1000 })).toBe(5);
  });
});

it('is refused as a draft if there are a thousand unfinished ones', async () => {
  const { client, context, records } = await world([]);
  const workflow = { ...client.workflow!, account };
  const write = (text: string) => compose(client, workflow, { tweets: [text] }, context);
  const first = await write('first');
  for (let index = 1; index < 1000; index += 1) {
    const data = { tweets: ['other'], revision: 1 };
    await records.put({ kind: 'draft', account, id: `dr_${index}`, at: 1, state: 'draft', data });
  }
  await expect(write('one more')).rejects.toThrow();
  expect(await write('first')).toEqual(first);
});

describe('a draft that a crash left between its record and the journal', () => {
  const at = Date.now() + HOUR;
  const scheduled = { at, timeZone: 'UTC' };
  const approval = {
    rule: '',
    explanation: '',
    requested_at: '',
    expires_at: '',
    edited: false,
    scheduled_for: new Date(at).toISOString(),
  };
  const data = { tweets: ['left'], scheduled, revision: 3 };
  const left = { kind: 'draft', account, id: 'dr_1', at: 1, state: 'scheduling', data };
  const waiting = operation('op_9', { state: 'awaiting_approval', approval });

  it('is handed to the journal under its own key, and only once', async () => {
    const { client, records, calls } = await world([waiting]);
    await records.put(left);
    for (const _again of [1, 2]) await maintain(client);
    expect(calls).toEqual([
      {
        tool: 'x_post_tweet',
        args: { text: 'left' },
        idempotencyKey: 'draft.dr_1.3',
        schedule: { at, expiresAt: at + HOUR },
      },
    ]);
    expect(await records.get('draft', account, 'dr_1')).toMatchObject({
      state: 'scheduled',
      subject: 'op_9',
    });
  });

  it('is posted, not unknown, if the journal has executed it meanwhile', async () => {
    const executed = operation('op_9', {
      approval,
      settled_at: new Date(at + 1).toISOString(),
      answer: { data: { id: '99', text: 'left' } },
    });
    const answer = successEnvelope({ id: '99', text: 'left' }, meta);
    const { client, records } = await world([executed], NOTHING, {
      call: () => Promise.resolve(answer),
    });
    await records.put(left);
    await maintain(client);
    expect(await records.get('draft', account, 'dr_1')).toMatchObject({
      state: 'posted',
      subject: 'op_9',
      data: { tweet_ids: ['99'] },
    });
  });

  it('is kept with the reason if it is refused', async () => {
    const refused = errorEnvelope(toolError('policy_error', 'Cannot decide.').input, meta);
    const { client, records } = await world([], NOTHING, {
      call: () => Promise.resolve(refused),
    });
    await records.put(left);
    await maintain(client);
    expect(await records.get('draft', account, 'dr_1')).toMatchObject({
      state: 'draft',
      data: { tweets: ['left'], note: 'It was not scheduled: policy_error.' },
    });
  });

  it('does not take over another operation that was executed meanwhile', async () => {
    const executed = [
      operation('op_8', { settled_at: new Date(at + 2).toISOString() }),
      operation('op_9', { approval, settled_at: new Date(at + 1).toISOString() }),
    ];
    const { client, records } = await world(executed, NOTHING, {
      call: () => Promise.resolve(successEnvelope({ id: '9', text: 'left' }, meta)),
    });
    await records.put(left);
    await maintain(client);
    expect(await records.get('draft', account, 'dr_1')).toMatchObject({
      state: 'posted',
      subject: 'op_9',
    });
  });

  it('is not posted if it is cancelled while it is handed over', async () => {
    const { client, records, withdrawn } = await world([waiting], NOTHING, {
      call: async () => {
        // Another process finds nothing to take back yet.
        await records.put({ ...left, state: 'cancelled' });
        return scheduledAnswer;
      },
    });
    await records.put(left);
    await maintain(client);
    expect(withdrawn).toEqual(['op_9']);
    expect(await records.get('draft', account, 'dr_1')).toMatchObject({ state: 'cancelled' });
  });
});

describe('a scheduled thread whose process was stopped after some of its parts', () => {
  const { outcome: _, ...half } = operation('op_9', { tool: 'x_post_thread', state: 'claimed' });
  const draft = (at: number) => ({
    kind: 'draft',
    account,
    id: 'dr_1',
    at: 1,
    state: 'scheduled',
    data: {
      tweets: ['a', 'b'],
      scheduled: { at, timeZone: 'UTC' },
      revision: 3,
      operation_id: 'op_9',
    },
  });

  it('is completed under its key by another process, until its grace has passed', async () => {
    const { client, records, calls } = await world([half]);
    await records.put(draft(Date.now() - 2 * HOUR));
    await maintain(client);
    expect(calls).toEqual([]);
    await records.put(draft(Date.now() - 60_000));
    await maintain(client);
    expect(calls).toMatchObject([
      { tool: 'x_post_thread', args: { tweets: ['a', 'b'] }, idempotencyKey: 'draft.dr_1.3' },
    ]);
    expect(calls[0]).toMatchObject({ schedule: undefined });
  });
});
