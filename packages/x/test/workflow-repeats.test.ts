import { describe, expect, it, vi } from 'vitest';
import { created } from './support/rig.js';
import {
  autopilot,
  codeOf,
  composer,
  data,
  type Data,
  decide,
  inMs,
  LATER_MS,
  listed,
  scheduleSoon,
  soon,
  useWorkflowWorld,
} from './support/workflow.js';

const { start, world } = useWorkflowWorld();

const kinds = ({ commits }: { readonly commits: () => readonly { readonly kind: string }[] }) =>
  commits().map(({ kind }) => kind);

describe('a scheduled draft with the text of another call', () => {
  it('is not the pending call, which would be posted when it is approved and not at its time', async () => {
    const { server } = await world({ rules: composer });
    const direct = await server.call('x_post_tweet', { text: 'twice' });
    const scheduled = { tweets: ['twice'], scheduled_for: inMs(LATER_MS) };
    const { error } = await server.call('compose_tweet', scheduled);
    expect(error).toMatchObject({ code: 'invalid_input', outcome: 'not_executed' });
    expect(error?.message).toContain(direct.error!.operation_id);
    const [draft] = await listed(server);
    expect(draft).toMatchObject({ state: 'draft', tweets: ['twice'] });
    expect(draft).not.toHaveProperty('scheduled_for');
    await server.call('cancel_draft', { draft_id: draft!['draft_id'] });
    // The pending call is not taken back with it.
    expect(data(await server.call('get_pending_count'))).toMatchObject({ pending: 1 });
  });

  it('is not lost as unknown because the text was posted a moment ago', async () => {
    const { server } = await world({ rules: autopilot });
    await server.call('x_post_tweet', { text: 'now' });
    const scheduled = { tweets: ['now'], scheduled_for: inMs(LATER_MS) };
    expect(codeOf(await server.call('compose_tweet', scheduled))).toBe('invalid_input');
    expect(await listed(server)).toMatchObject([{ state: 'draft', tweets: ['now'] }]);
  });
});

describe('a draft', () => {
  it('that an operator rejected is not proposed again by a repeated call', async () => {
    const { server } = await world({ rules: composer });
    const scheduled = { tweets: ['no'], scheduled_for: inMs(LATER_MS) };
    const { operation_id: id } = data(await server.call('compose_tweet', scheduled));
    await decide(server, id as string, 'reject');
    expect(data(await server.call('compose_tweet', scheduled))).toMatchObject({
      state: 'rejected',
      operation_id: id,
    });
    expect(data(await server.call('get_pending_count'))).toMatchObject({ pending: 0 });
  });

  it('that an operator rejected is not proposed again by an update without a change', async () => {
    const { server } = await world({ rules: composer });
    const scheduled = { tweets: ['no'], scheduled_for: inMs(LATER_MS) };
    const { operation_id: id, draft_id } = data(await server.call('compose_tweet', scheduled));
    await decide(server, id as string, 'reject');
    for (const change of [{}, { topic: 'same' }, { tweets: scheduled.tweets }]) {
      const answer = await server.call('update_draft', { draft_id, ...change });
      expect(answer.error?.message).toContain('was rejected');
    }
    expect(data(await server.call('get_pending_count'))).toMatchObject({ pending: 0 });
    const changed = { draft_id, tweets: ['yes'] };
    expect(data(await server.call('update_draft', changed))).toMatchObject({
      state: 'awaiting_approval',
    });
  });

  it('that was approved stays approved if an update changes nothing but its topic', async () => {
    const { server } = await world({ rules: composer });
    const scheduled = { tweets: ['yes'], scheduled_for: inMs(LATER_MS) };
    const { operation_id: id, draft_id } = data(await server.call('compose_tweet', scheduled));
    await decide(server, id as string, 'approve');
    expect(data(await server.call('update_draft', { draft_id, topic: 'news' }))).toMatchObject({
      state: 'scheduled',
      operation_id: id,
      topic: 'news',
    });
    // So does a repeated compose_tweet.
    expect(
      data(await server.call('compose_tweet', { ...scheduled, topic: 'brakes' })),
    ).toMatchObject({ draft_id, state: 'scheduled', operation_id: id, topic: 'brakes' });
  });

  it('that was posted is not refused as past when the call is repeated', async () => {
    const { upstream, server } = await world({ rules: autopilot });
    const { draft, scheduled_for } = await scheduleSoon(server, { tweets: ['punctual'] });
    const { draft_id: id } = draft;
    const scheduled = { tweets: ['punctual'], scheduled_for };
    await vi.waitUntil(async () => (await listed(server))[0]?.['state'] === 'posted', soon);
    expect(data(await server.call('compose_tweet', scheduled))).toMatchObject({
      draft_id: id,
      state: 'posted',
      tweet_ids: [expect.any(String)],
    });
    const other = await server.call('compose_tweet', {
      ...scheduled,
      scheduled_for: inMs(LATER_MS),
    });
    expect(other.error).toMatchObject({ code: 'invalid_input' });
    expect(other.error?.message).not.toMatch(/allow_duplicate|idempotency_key/);
    expect(created(upstream)).toHaveLength(1);
  });

  it('is not reported as changed by a call whose change was lost to a concurrent one', async () => {
    const { server } = await world({ rules: autopilot });
    const scheduled = { tweets: ['base'], scheduled_for: inMs(LATER_MS) };
    const { draft_id: id } = data(await server.call('compose_tweet', scheduled));
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (text) => {
        const answer = await server.call('update_draft', { draft_id: id, tweets: [text] });
        return answer.success ? [text, ...(answer.data['tweets'] as string[])] : [];
      }),
    );
    const changed = answers.filter(({ length }) => length > 0);
    expect(changed.length).toBeGreaterThan(0);
    expect(changed).toEqual(changed.map(([text]) => [text, text]));
    const [draft] = await listed(server);
    expect(draft).toMatchObject({ state: 'scheduled' });
    expect(changed.map(([text]) => [text])).toContainEqual(draft!['tweets']);
  });

  it('whose time has passed is not posted at once by a change of its text', async () => {
    const { upstream, server } = await world({ rules: composer });
    const { draft: scheduled } = await scheduleSoon(server, { tweets: ['late'] });
    const { draft_id: id } = scheduled;
    const change = { draft_id: id, tweets: ['later'] };
    await vi.waitUntil(
      async () => codeOf(await server.call('update_draft', change)) === 'invalid_input',
      soon,
    );
    const [waiting] = await listed(server);
    expect(waiting).toMatchObject({ state: 'awaiting_approval' });
    const moved = { ...change, scheduled_for: inMs(LATER_MS) };
    expect(data(await server.call('update_draft', moved))).toMatchObject({ tweets: ['later'] });
    const unscheduled = { draft_id: id, unschedule: true };
    const draft = data(await server.call('update_draft', unscheduled));
    expect(draft).toMatchObject({ state: 'draft', tweets: ['later'] });
    expect(created(upstream)).toEqual([]);
  });
});

describe('x_undo', () => {
  const acts = [
    ['x_like_tweet', 'like'],
    ['x_retweet', 'repost'],
    ['x_bookmark_tweet', 'bookmark'],
    ['x_follow_user', 'follow'],
  ] as const;

  it.each(acts)('of %s twice leaves what was done again after the first', async (tool, kind) => {
    const { upstream, server } = await world({ rules: autopilot });
    const users = data(
      await server.call('x_get_followers', { user_id: upstream.landmarks.me.id, max_results: 100 }),
    )['users'] as readonly Data[];
    const following = data(
      await server.call('x_get_following', { user_id: upstream.landmarks.me.id, max_results: 100 }),
    )['users'] as readonly Data[];
    const followed = new Set(following.map(({ id }) => id));
    const stranger = users.find(({ id }) => !followed.has(id));
    const args =
      tool === 'x_follow_user'
        ? { target_user_id: stranger?.['id'] }
        : { tweet_id: upstream.landmarks.popularPostId };
    data(await server.call(tool, args));
    const { mutations } = data(await server.call('get_recent_mutations', { limit: 1 }));
    const undo = { operation_id: (mutations as readonly Data[])[0]!['operation_id'] };
    const first = data(await server.call('x_undo', undo));
    expect(first).toMatchObject({ undone: { length: 1 }, remaining: [] });
    data(await server.call(tool, args));
    expect(data(await server.call('x_undo', undo))).toEqual(first);
    expect(kinds(upstream)).toEqual([`${kind}.created`, `${kind}.deleted`, `${kind}.created`]);
  });

  it('does not undo what was never done: a pending, rejected or failed operation', async () => {
    const { upstream, server, folder, login } = await world({ rules: composer });
    const like = { tweet_id: upstream.landmarks.popularPostId };
    const { error } = await server.call('x_like_tweet', like);
    const undo = { operation_id: error!.operation_id };
    expect(codeOf(await server.call('x_undo', undo))).toBe('invalid_input');
    await decide(server, error!.operation_id!, 'reject');
    await server.close();
    const open = await start({ ...login, folder, profile: 'workflow', rules: autopilot });
    expect(codeOf(await open.call('x_undo', undo))).toBe('invalid_input');
    const self = { target_user_id: upstream.landmarks.me.id };
    const failed = await open.call('x_follow_user', self);
    expect(codeOf(failed)).toBe('x_forbidden');
    const other = { operation_id: failed.error!.operation_id };
    expect(codeOf(await open.call('x_undo', other))).toBe('invalid_input');
    expect(upstream.commits()).toEqual([]);
  });

  it('of a thread fails if no part was deleted, and repeats without deleting twice', async () => {
    const { upstream, server, folder, login } = await world({ rules: autopilot });
    await server.call('x_post_thread', { tweets: ['one', 'two'] });
    const { mutations } = data(await server.call('get_recent_mutations'));
    const undo = { operation_id: (mutations as readonly Data[])[0]!['operation_id'] };
    await server.close();
    const strict = await start({
      ...login,
      folder,
      profile: 'workflow',
      rules: composer,
      journal: { pollMs: 20 },
    });
    expect(codeOf(await strict.call('x_undo', undo))).toBe('approval_required');
    for (const { id } of await strict.approvals.list()) await decide(strict, id, 'approve');
    await vi.waitUntil(async () => codeOf(await strict.call('x_undo', undo)) === 'ok', soon);
    await vi.waitUntil(
      () => kinds(upstream).filter((kind) => kind === 'post.deleted').length === 2,
      soon,
    );
    await vi.waitUntil(
      async () => (data(await strict.call('x_undo', undo))['undone'] as unknown[]).length === 2,
      soon,
    );
    expect(kinds(upstream).filter((kind) => kind === 'post.deleted')).toHaveLength(2);
  });
});

describe('pages', () => {
  it('of pending approvals do not start over when the last one shown was decided', async () => {
    const { server } = await world({ rules: composer });
    const ids: string[] = [];
    for (const text of ['a', 'b', 'c', 'd']) {
      ids.push((await server.call('x_post_tweet', { text })).error!.operation_id!);
    }
    const first = await server.call('list_pending_approvals', { limit: 2 });
    const shown = (answer: typeof first) =>
      (data(answer)['approvals'] as readonly { readonly operation_id: string }[]).map(
        ({ operation_id: id }) => id,
      );
    expect(shown(first)).toEqual([ids[3], ids[2]]);
    await decide(server, ids[2]!, 'reject');
    const token = first.meta.pagination?.next_token;
    const next = { limit: 2, pagination_token: token };
    const rest = await server.call('list_pending_approvals', next);
    expect(shown(rest)).toEqual([ids[1], ids[0]]);
    expect(rest.meta.pagination).toMatchObject({ has_more: false });
  });
});

describe('the caps of replies', () => {
  const workflow = { maxRepliesPerDay: 2, maxRepliesPerAuthorPerDay: 50 };

  it('count replies of other profiles, and agree with the recommendation', async () => {
    const { upstream, server, folder, login } = await world({ workflow, profile: 'api' });
    const reply = { in_reply_to_id: upstream.landmarks.mentionId };
    for (const text of ['a', 'b']) data(await server.call('x_reply_to_tweet', { text, ...reply }));
    await server.close();
    const next = await start({ ...login, folder, profile: 'workflow', rules: autopilot });
    const { error } = await next.call('x_reply_to_tweet', { text: 'c', ...reply });
    expect(error).toMatchObject({
      code: 'policy_denied_hard_rule',
      details: { rule: 'hard:reply cap' },
    });
    // A deleted reply has been sent all the same.
    const { mutations } = data(await next.call('get_recent_mutations', { limit: 1 }));
    const [last] = mutations as readonly Data[];
    data(await next.call('x_undo', { operation_id: last!['operation_id'] }));
    const asked = { author_username: 'any', tweet_text: 'any' };
    expect(data(await next.call('recommend_engagement_action', asked))).toMatchObject({
      action: 'skip',
      considerations: [{ rule: 'daily_limit', effect: 'blocks' }],
    });
    expect(created(upstream)).toHaveLength(2);
  });
});
