import { describe, expect, it, vi } from 'vitest';
import type { Answer } from './support/governed.js';
import { created } from './support/rig.js';
import {
  autopilot,
  codeOf,
  composer,
  data,
  type Data,
  inMs,
  LATER_MS,
  listed,
  scheduleSoon,
  soon,
  useWorkflowWorld,
} from './support/workflow.js';

const { start, world } = useWorkflowWorld();

describe('a scheduled draft without its posting tool', () => {
  const thread = { tweets: ['a', 'b'], scheduled_for: inMs(LATER_MS) };

  it('is not scheduled by another server after compose_tweet failed, and can be cancelled', async () => {
    const { upstream, server, folder, login } = await world({ rules: autopilot });
    const lame = await start({
      ...login,
      folder,
      profile: 'workflow',
      rules: autopilot,
      exclude: ['x_post_thread'],
    });
    expect(codeOf(await lame.call('compose_tweet', thread))).toBe('not_found');
    const [draft] = await listed(lame);
    expect(draft).toMatchObject({ state: 'draft', note: expect.stringContaining('x_post_thread') });
    expect(await listed(server)).toEqual([draft]);
    const { draft_id: id } = draft!;
    const timed = { draft_id: id, scheduled_for: inMs(LATER_MS) };
    expect(codeOf(await lame.call('update_draft', timed))).toBe('not_found');
    const renamed = { draft_id: id, topic: 'kept' };
    expect(data(await lame.call('update_draft', renamed))).toMatchObject({ state: 'draft' });
    expect(data(await lame.call('cancel_draft', { draft_id: id }))).toMatchObject({
      state: 'cancelled',
    });
    expect(created(upstream)).toEqual([]);
  });

  it('that a stopped server handed over is withdrawn by a cancellation', async () => {
    const { server, folder, login } = await world({ rules: autopilot });
    const { draft_id: id, operation_id } = data(await server.call('compose_tweet', thread));
    const account = (await server.approvals.show(operation_id as string))!.account;
    // As if the process had been killed after handing it over.
    const records = server.records('x');
    const stored = (await records.get<object>('draft', account, id as string))!;
    const { operation_id: _, ...left } = stored.data as Record<string, unknown>;
    await records.put({ ...stored, state: 'scheduling', data: left }, stored.version);
    const lame = await start({
      ...login,
      folder,
      profile: 'workflow',
      rules: autopilot,
      exclude: ['x_post_thread'],
    });
    expect(data(await lame.call('cancel_draft', { draft_id: id }))).toMatchObject({
      state: 'cancelled',
    });
    expect(await server.approvals.show(operation_id as string)).toMatchObject({
      code: 'cancelled',
    });
  });
});

describe('a rule for compose_tweet that requires approval', () => {
  const rules = {
    ...autopilot,
    rules: [{ name: 'drafts', when: { tool: 'compose_tweet' }, action: 'require_approval' }],
  } as const;

  it('is not skipped by a draft that list_drafts hands over after a stop', async () => {
    const { server } = await world({ rules });
    const draft = { tweets: ['a'], scheduled_for: inMs(LATER_MS) };
    const { draft_id: id, operation_id } = data(await server.call('compose_tweet', draft));
    const { account } = (await server.approvals.show(operation_id as string))!;
    const records = server.records('x');
    const stored = (await records.get<object>('draft', account, id as string))!;
    // As if the process had been killed before handing it over.
    const { operation_id: _, ...left } = stored.data as Record<string, unknown>;
    await records.put(
      { ...stored, state: 'scheduling', data: { ...left, revision: 7 } },
      stored.version,
    );
    const [shown] = await listed(server);
    expect(shown).toMatchObject({ state: 'awaiting_approval' });
    expect(shown!['operation_id']).not.toBe(operation_id);
  });

  it('is not skipped by a draft that gets its time with update_draft', async () => {
    const { upstream, server } = await world({ rules });
    const { draft_id: id } = data(await server.call('compose_tweet', { tweets: ['a'] }));
    const timed = { draft_id: id, scheduled_for: inMs(LATER_MS) };
    expect(data(await server.call('update_draft', timed))).toMatchObject({
      state: 'awaiting_approval',
    });
    expect(created(upstream)).toEqual([]);
  });
});

describe('a limit for compose_tweet', () => {
  it('counts scheduled posts when they are posted', async () => {
    const rules = {
      ...autopilot,
      limits: { composes: { when: { tool: 'compose_tweet' }, perDay: 1 } },
    };
    const { upstream, server } = await world({ rules });
    const ids: string[] = [];
    for (const text of ['a', 'b']) {
      const { draft } = await scheduleSoon(server, { tweets: [text] });
      ids.push(draft['operation_id'] as string);
    }
    await vi.waitUntil(async () => {
      const shown = await Promise.all(ids.map((id) => server.approvals.show(id)));
      const codes = shown.map((operation) => operation?.code);
      return codes.includes('ok') && codes.includes('policy_denied_rate_limited');
    }, soon);
    expect(created(upstream)).toHaveLength(1);
    // A direct call is not the limited one.
    expect(codeOf(await server.call('x_post_tweet', { text: 'direct' }))).toBe('ok');
  });
});

describe('a scheduled post that waits for an operator', () => {
  it('tells its time to a direct call with the same text', async () => {
    const { server } = await world({ rules: composer });
    const draft = { tweets: ['later'], scheduled_for: inMs(LATER_MS) };
    const { note } = data(await server.call('compose_tweet', draft));
    expect(note).toContain('after its time');
    const { error } = await server.call('x_post_tweet', { text: 'later' });
    expect(error?.message).toContain(`not before ${draft.scheduled_for}`);
  });
});

describe('a blocked author', () => {
  const ruleOf = ({ error }: Answer): unknown =>
    (error?.details as { readonly rule?: unknown } | undefined)?.rule;
  /** Another account of the sandbox with a tweet, blocked by name. */
  const blockedWorld = async () => {
    const { upstream, server, folder, login } = await world({ rules: autopilot });
    const id = upstream.landmarks.mentionId;
    const { tweet } = data(await server.call('get_tweet_by_id', { tweet_id: id }));
    const { author_id: author, author_username: name } = tweet as Data;
    const config = { ...login.config, workflow: { blockedAuthors: [`@${String(name)}`] } };
    const next = await start({ ...login, config, folder, profile: 'workflow', rules: autopilot });
    return { upstream, server: next, id, author, name };
  };

  it('is neither followed nor quoted, with the tool or by a link', async () => {
    const { upstream, server, id, author } = await blockedWorld();
    const calls = [
      ['x_follow_user', { target_user_id: author }],
      ['x_quote_tweet', { text: 'look', quoted_tweet_id: id }],
      ['x_post_tweet', { text: `look https://x.com/i/status/${id}` }],
      ['x_post_thread', { tweets: ['look', `twitter.com/any/status/${id}?s=20`] }],
    ] as const;
    for (const [tool, args] of calls) {
      expect([tool, ruleOf(await server.call(tool, args))]).toEqual([tool, 'hard:blocked author']);
    }
    expect(upstream.commits()).toEqual([]);
    const others = { text: 'see https://x.com/i/events/1 and https://example.com/a/status/1' };
    expect(codeOf(await server.call('x_post_tweet', others))).toBe('ok');
  });

  it('is not recommended', async () => {
    const { server, name } = await blockedWorld();
    const asked = { author_username: `@${String(name).toUpperCase()}`, tweet_text: 'any' };
    expect(data(await server.call('recommend_engagement_action', asked))).toMatchObject({
      action: 'skip',
      considerations: [{ rule: 'blocked_author', effect: 'blocks' }],
    });
  });
});

describe('get_policy_status', () => {
  it('tells that a banned phrase is denied for the tools that act through others', async () => {
    const { server } = await world({
      rules: autopilot,
      workflow: { bannedPhrases: ['link in bio'] },
    });
    for (const [tool, args] of [
      ['compose_tweet', { tweets: ['link in bio'] }],
      ['propose_and_queue_replies', { items: [{ candidate_id: '1', text: 'link in bio' }] }],
    ] as const) {
      const status = await server.call('get_policy_status', { tool, arguments: args });
      expect(data(status)).toMatchObject({ decision: 'deny', rule: 'hard:banned phrase' });
    }
  });
});

describe('the reply cap', () => {
  it('holds for concurrent replies to different authors', async () => {
    const { upstream, server } = await world({
      rules: autopilot,
      workflow: { maxRepliesPerDay: 1, maxRepliesPerAuthorPerDay: 9 },
    });
    const found = data(await server.call('x_search_tweets', { query: 'the', max_results: 50 }));
    const mine = upstream.landmarks.me.id;
    const byAuthor = new Map(
      (found['tweets'] as readonly Data[])
        .filter(({ author_id: author }) => author !== mine)
        .map(({ author_id: author, id }) => [author, id]),
    );
    const targets = [...byAuthor.values()].slice(0, 3);
    const answers = await Promise.all(
      targets.map((id, index) =>
        server.call('x_reply_to_tweet', { text: `reply ${index}`, in_reply_to_id: id }),
      ),
    );
    expect(answers.map(codeOf).toSorted()).toEqual([
      'ok',
      'policy_denied_hard_rule',
      'policy_denied_hard_rule',
    ]);
    expect(created(upstream)).toHaveLength(1);
  });
});
