import { withSendToken, type OtherOperation } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import type { CallContext } from '@toolkeel/pack-kit';
import { describe, expect, it } from 'vitest';
import type { Client } from '../api/client.js';
import type { Post } from '../model.js';
import { UpstreamProblem } from '../api/upstream-problem.js';
import { toToolError } from '../faults.js';
import { claimsOf } from './claims.js';
import { createPost } from './create.js';

const draft = { text: 'two', replyTo: '100' };
const reply = (id: string, to = '100'): Post => ({
  id,
  text: 'two',
  referenced_tweets: [{ type: 'replied_to', id: to }],
});

const refused = (refusal: 'duplicate_content' | 'forbidden') =>
  new FaultError({
    kind: 'rejected',
    sent: 'answered',
    status: 403,
    cause: new UpstreamProblem(refusal),
  });

interface Given {
  readonly posts?: readonly Post[];
  readonly others?: readonly OtherOperation[];
  /** The timeline is forbidden. */
  readonly isBlind?: boolean;
}

/** An X that rejects every post as a duplicate. */
function rig({ posts = [], others = [], isBlind = false }: Given) {
  const clock = new VirtualClock();
  const asked: unknown[] = [];
  const client = {
    clock,
    readBackMs: 8_000,
    config: {},
    account: { userId: async () => '1' },
    session: { upstreamNow: 0 },
    provider: {
      getUserPosts: async (query: unknown) => {
        asked.push(query);
        if (isBlind) throw refused('forbidden');
        return { items: posts, partialErrors: [] };
      },
    },
    requests: {
      once: (_: unknown, call: CallContext) =>
        call.send(async () => {
          throw refused('duplicate_content');
        }),
    },
  } as unknown as Client;
  const call: CallContext = {
    deadline: 60_000,
    signal: new AbortController().signal,
    correlationId: 'c',
    noteRetry: () => undefined,
    progress: () => undefined,
    send: (write) => withSendToken(1, write),
  };
  const claims = () => claimsOf(async () => others);
  const post = async (isPart: boolean) => {
    try {
      return {
        id: (await clock.run(createPost(client, draft, call, isPart ? claims : undefined))).id,
      };
    } catch (cause) {
      const { code, outcome, details } = toToolError(cause)!.input;
      return { code, outcome, details };
    }
  };
  return { asked, clock, client, post };
}

const other = (more: Partial<OtherOperation>): OtherOperation => ({
  tool: 'x_reply_to_tweet',
  args: { text: 'two', in_reply_to_id: '100' },
  results: [],
  ...more,
});

describe('a part of a thread that X rejects as a duplicate', () => {
  it('is the existing post', async () => {
    const { post, asked } = rig({ posts: [reply('99', '98'), reply('101')] });
    expect(await post(true)).toEqual({ id: '101' });
    expect(asked).toMatchObject([{ sinceId: '100' }]);
  });

  it.each([
    ['it replies to another post', { posts: [reply('101', '98')] }],
    [
      'another operation created it',
      { posts: [reply('101')], others: [other({ results: [{ id: '101' }] })] },
    ],
  ])('is rejected if %s', async (_, given) => {
    const { post } = rig(given);
    expect(await post(true)).toMatchObject({
      code: 'upstream_rejected',
      details: { reason: 'duplicate_content:101' },
    });
  });

  it.each([
    [
      'another operation may have created it',
      { posts: [reply('101')], others: [other({ openSince: 0 })] },
    ],
    ['it exists twice', { posts: [reply('101'), reply('102')] }],
    ['the timeline shows nothing', {}],
    ['the timeline is forbidden', { isBlind: true }],
  ])('is unknown if %s', async (_, given) => {
    const { post } = rig(given);
    expect(await post(true)).toMatchObject({
      code: 'outcome_unknown',
      outcome: 'unknown',
      details: { cause_code: 'upstream_rejected' },
    });
  });

  it('is awaited if X shows it late', async () => {
    const posts: Post[] = [];
    const { post, clock } = rig({ posts });
    clock.setTimer(3_000, () => posts.push(reply('101')));
    expect(await post(true)).toEqual({ id: '101' });
  });
});

describe('a single post that X rejects as a duplicate', () => {
  it('is rejected with the id of the earlier post', async () => {
    const { post } = rig({ posts: [reply('101')] });
    expect(await post(false)).toMatchObject({
      code: 'upstream_rejected',
      outcome: 'not_executed',
      details: { reason: 'duplicate_content:101' },
    });
  });
});
