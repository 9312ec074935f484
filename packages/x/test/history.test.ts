import { systemClock } from '@toolkeel/kernel';
import { describe, expect, it } from 'vitest';
import {
  errorEnvelope,
  toolError,
  type PackOperation,
  type PackWorkflow,
} from '@toolkeel/contract';
import { createClient } from '../src/api/client.js';
import { configSchema } from '../src/index.js';
import {
  authorOf,
  measurePosts,
  performanceScore,
  POSTS,
  rememberAuthor,
  syncPosts,
  type MadePost,
} from '../src/workflow/history.js';
import { maintain } from '../src/workflow/upkeep.js';
import { emptyWorkflow, secrets, useWorld } from './support/rig.js';

const { serve, onClose } = useWorld();

/** The answer of the journal to a scheduled call. */
const scheduledAnswer = errorEnvelope(
  { ...toolError('idempotency_in_flight', 'Scheduled.').input, operationId: 'op_9' },
  {
    toolVersion: '1',
    elapsedMs: 0,
    retryCount: 0,
    correlationId: 'c',
    profile: { name: 'workflow', mode: 'autopilot', approvalMode: false },
  },
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

async function world(operations: readonly PackOperation[], reply: object = NOTHING) {
  const server = await serve(({ path }) => ({
    json: path.startsWith('/2/users/me') ? { data: { id: '12', username: 'me' } } : reply,
  }));
  const calls: object[] = [];
  const base = emptyWorkflow();
  const asked: (readonly string[] | undefined)[] = [];
  const workflow: PackWorkflow = {
    ...base,
    call: (tool, args, { idempotencyKey, schedule } = {}) => {
      calls.push({ tool, args, idempotencyKey, schedule });
      return Promise.resolve(scheduledAnswer);
    },
    operations: {
      ...base.operations,
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
  const config = configSchema.parse({ baseUrl: server.origin, accessToken: { env: 'USER' } });
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
  return { client, context, posts, server, calls, records: workflow.records };
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

  it('does not ask X for an author that is known', async () => {
    const { client, context, records, server } = await world([]);
    await rememberAuthor(records, account, '77', { id: '5', username: 'ada' });
    expect(await authorOf(client, account, '77', context)).toEqual({ id: '5', username: 'ada' });
    expect(server.requests).toEqual([]);
    await expect(authorOf(client, account, '78', context)).rejects.toThrow();
  });

  it('scores replies above reposts above likes, per thousand impressions', () => {
    const none = { likes: 0, replies: 0, reposts: 0, impressions: 0 };
    expect(performanceScore(none)).toBe(0);
    expect(performanceScore({ ...none, likes: 1, impressions: 1000 })).toBe(3);
    expect(performanceScore({ ...none, reposts: 1, impressions: 1000 })).toBe(4);
    expect(performanceScore({ ...none, replies: 1, impressions: 1000 })).toBe(5);
  });
});

describe('a draft that a crash left between its record and the journal', () => {
  it('is handed to the journal under its own key, and only once', async () => {
    const { client, records, calls } = await world([]);
    const scheduled = { at: Date.now() + HOUR, timeZone: 'UTC' };
    const data = { tweets: ['left'], scheduled, revision: 3 };
    await records.put({ kind: 'draft', account, id: 'dr_1', at: 1, state: 'scheduling', data });
    for (const _again of [1, 2]) await maintain(client);
    expect(calls).toEqual([
      {
        tool: 'x_post_tweet',
        args: { text: 'left' },
        idempotencyKey: 'draft.dr_1.3',
        schedule: { at: scheduled.at, expiresAt: scheduled.at + HOUR },
      },
    ]);
    expect(await records.get('draft', account, 'dr_1')).toMatchObject({
      state: 'scheduled',
      subject: 'op_9',
    });
  });
});
