import { PROFILES } from '@toolkeel/contract';
import { describe, expect, it, vi } from 'vitest';
import { x } from '../src/index.js';
import { argumentsOf } from './support/arguments.js';
import { type Answer, loginTo } from './support/governed.js';
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

const { newFolder, start, sandbox, world } = useWorkflowWorld();

describe('meta.mode and meta.approval_mode', () => {
  it.each(PROFILES)(
    'are on every answer of the workflow profile only: %s',
    async (profile) => {
      const upstream = await sandbox();
      const rules = profile === 'workflow' ? composer : {};
      const server = await start({
        profile,
        folder: await newFolder(),
        ...loginTo(upstream),
        rules,
      });
      const names = await server.tools();
      expect(names.length).toBeGreaterThan(10);
      for (const name of names) {
        for (const args of [argumentsOf[name] ?? {}, { no_such_argument: 1 }]) {
          const { meta } = await server.call(name, args);
          expect([name, meta.mode, meta.approval_mode]).toEqual(
            profile === 'workflow' ? [name, 'composer', true] : [name, undefined, undefined],
          );
        }
      }
    },
    // It calls every tool twice.
    240_000,
  );
});

describe('composer mode', () => {
  it('posts exactly what an operator approved, of three proposed replies', async () => {
    const { upstream, server } = await world({ rules: composer });
    const target = upstream.landmarks.mentionId;
    const reply = (text: string) => ({ text, in_reply_to_id: target });
    const ids: string[] = [];
    for (const text of ['first', 'second', 'third']) {
      const { error } = await server.call('x_reply_to_tweet', reply(text));
      expect(error).toMatchObject({ code: 'approval_required' });
      ids.push(error!.operation_id!);
    }
    expect(data(await server.call('get_pending_count'))).toMatchObject({ pending: 3 });
    const pending = data(await server.call('list_pending_approvals'))['approvals'];
    expect(pending).toMatchObject([
      { tool: 'x_reply_to_tweet', arguments: reply('third') },
      { arguments: reply('second') },
      { arguments: reply('first') },
    ]);
    expect(created(upstream)).toEqual([]);
    const { approval } = (await server.approvals.show(ids[0]!))!;
    const edit = { hash: approval!.hash, by: 'ana', changes: { text: 'first, corrected' } };
    await server.approvals.edit(ids[0]!, edit);
    await decide(server, ids[0]!, 'approve');
    await decide(server, ids[1]!, 'approve');
    await decide(server, ids[2]!, 'reject');
    await vi.waitUntil(() => created(upstream).length === 2, soon);
    const again = async (text: string) => {
      let answer = await server.call('x_reply_to_tweet', reply(text));
      while (codeOf(answer) === 'idempotency_in_flight') {
        answer = await server.call('x_reply_to_tweet', reply(text));
      }
      return answer;
    };
    expect(data(await again('first'))).toMatchObject({
      text: expect.stringContaining('first, corrected'),
    });
    expect(data(await again('second'))).toMatchObject({
      text: expect.stringContaining('second'),
    });
    expect(codeOf(await again('third'))).toBe('approval_denied');
    expect(
      created(upstream)
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(['first, corrected', 'second']);
    expect(data(await server.call('get_pending_count'))).toEqual({ pending: 0 });
    // The two replies count for their author, whichever way they were made.
    expect(data(await server.call('get_stats'))).toMatchObject({
      posts: { reply: 2 },
      measured: 0,
      average_score: null,
      authors: [{ replies: 2 }],
    });
  });

  it('differs from autopilot: the same call is executed at once there', async () => {
    const { upstream, server } = await world({ rules: autopilot });
    expect(data(await server.call('get_mode'))).toEqual({
      mode: 'autopilot',
      approval_mode: false,
    });
    expect(codeOf(await server.call('x_post_tweet', { text: 'at once' }))).toBe('ok');
    expect(created(upstream)).toHaveLength(1);
  });
});

describe('drafts', () => {
  it('are stored once, changed and cancelled, and nothing is posted', async () => {
    const { upstream, server } = await world({ rules: composer });
    const draft = { tweets: ['an idea'], topic: 'ideas' };
    const first = data(await server.call('compose_tweet', draft));
    expect(first).toMatchObject({ state: 'draft', tweets: ['an idea'], topic: 'ideas' });
    expect(data(await server.call('compose_tweet', draft))).toEqual(first);
    const id = first['draft_id'];
    const changed = { draft_id: id, tweets: ['a better idea'] };
    expect(data(await server.call('update_draft', changed))).toMatchObject({
      draft_id: id,
      state: 'draft',
      tweets: ['a better idea'],
      topic: 'ideas',
    });
    expect(await listed(server)).toMatchObject([{ draft_id: id }]);
    expect(data(await server.call('cancel_draft', { draft_id: id }))).toMatchObject({
      state: 'cancelled',
    });
    expect(codeOf(await server.call('update_draft', { draft_id: 'dr_none' }))).toBe('not_found');
    expect(created(upstream)).toEqual([]);
  });

  it('are listed in pages', async () => {
    const { server } = await world({ rules: composer });
    for (const text of ['a', 'b', 'c']) await server.call('compose_tweet', { tweets: [text] });
    const first = await server.call('list_drafts', { limit: 2 });
    expect(data(first)['drafts']).toHaveLength(2);
    const token = first.meta.pagination?.next_token;
    const rest = await server.call('list_drafts', { limit: 2, pagination_token: token });
    expect(data(rest)['drafts']).toMatchObject([{ tweets: ['a'] }]);
    expect(rest.meta.pagination).toMatchObject({ has_more: false });
  });

  it('are posted at their time, once, as tweet and as thread', async () => {
    const { upstream, server } = await world({ rules: autopilot });
    const waiting = { tweets: ['waits'], scheduled_for: inMs(LATER_MS) };
    const { draft_id: other } = data(await server.call('compose_tweet', waiting));
    expect(codeOf(await server.call('x_post_tweet', { text: 'waits' }))).toBe(
      'idempotency_in_flight',
    );
    data(await server.call('cancel_draft', { draft_id: other }));
    await scheduleSoon(server, { tweets: ['on time'], topic: 'time' });
    await scheduleSoon(server, { tweets: ['one', 'two'] });
    await vi.waitUntil(() => created(upstream).length === 3, soon);
    await vi.waitUntil(
      async () => (await listed(server)).filter(({ state }) => state === 'posted').length === 2,
      soon,
    );
    expect(
      created(upstream)
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(['on time', 'one', 'two']);
    const [last, first] = await listed(server);
    expect([first!['tweet_ids'], last!['tweet_ids']]).toMatchObject([
      [expect.any(String)],
      { length: 2 },
    ]);
    const late = { draft_id: first!['draft_id'] };
    expect(codeOf(await server.call('update_draft', { ...late, tweets: ['x'] }))).toBe(
      'invalid_input',
    );
    expect(codeOf(await server.call('cancel_draft', late))).toBe('invalid_input');
    expect(data(await server.call('get_stats'))).toMatchObject({
      posts: { post: 1, thread: 2 },
      drafts: { posted: 2, cancelled: 1 },
    });
  });

  it('wait for an operator in composer mode, and a changed one for another approval', async () => {
    const { upstream, server } = await world({ rules: composer });
    const scheduled = { tweets: ['first version'], scheduled_for: inMs(LATER_MS) };
    const draft = data(await server.call('compose_tweet', scheduled));
    expect(draft).toMatchObject({ state: 'awaiting_approval' });
    await decide(server, draft['operation_id'] as string, 'approve');
    expect(await listed(server)).toMatchObject([{ state: 'scheduled' }]);
    const id = draft['draft_id'];
    const change = { draft_id: id, tweets: ['second'] };
    const { draft: second } = await scheduleSoon(server, change, 'update_draft');
    expect(second).toMatchObject({ state: 'awaiting_approval', tweets: ['second'] });
    expect(second['operation_id']).not.toBe(draft['operation_id']);
    await decide(server, second['operation_id'] as string, 'approve');
    await vi.waitUntil(() => created(upstream).length === 1, soon);
    expect(created(upstream)).toMatchObject([{ text: 'second' }]);
  });

  it('are not posted after they were cancelled', async () => {
    const { upstream, server } = await world({ rules: autopilot });
    const { draft } = await scheduleSoon(server, { tweets: ['never'] });
    const { draft_id: id } = draft;
    expect(data(await server.call('cancel_draft', { draft_id: id }))).toMatchObject({
      state: 'cancelled',
    });
    // A later one shows that the time of the first has passed.
    await scheduleSoon(server, { tweets: ['later'] });
    await vi.waitUntil(() => created(upstream).length === 1, soon);
    expect(created(upstream)).toMatchObject([{ text: 'later' }]);
  });

  it.each([
    ['a time in the past', { scheduled_for: '2020-01-01T00:00:00Z' }, 'past'],
    ['a local time without a zone', { scheduled_for: '2099-01-01T00:00' }, 'required'],
    ['an unknown zone', { scheduled_for: '2099-01-01T00:00', time_zone: 'Mars/Olympus' }, 'IANA'],
    ['a zone without a time', { time_zone: 'Europe/Rome' }, 'scheduled_for'],
  ])('are refused with %s', async (_, args, message) => {
    const { server } = await world({ rules: autopilot });
    const answer = await server.call('compose_tweet', { tweets: ['a'], ...args });
    expect(answer.error).toMatchObject({ code: 'invalid_input', outcome: 'not_executed' });
    expect(answer.error?.message).toContain(message);
  });
});

describe('hard rules', () => {
  const workflow = {
    bannedPhrases: ['link in bio'],
    blockedAuthors: ['@nobody_here'],
    maxRepliesPerAuthorPerDay: 2,
  };
  const allow = { ...autopilot, rules: [{ name: 'anything', action: 'allow' }] } as const;
  const ruleOf = ({ error }: Answer): unknown => {
    expect(error?.code).toBe('policy_denied_hard_rule');
    return (error?.details as { rule?: unknown } | undefined)?.rule;
  };

  it('deny banned phrases, also spaced, in another case or in a draft, whatever the rules allow', async () => {
    const { upstream, server } = await world({ workflow, rules: allow });
    for (const text of ['Link in bio!', 'LINK  IN\nBIO', 'li\u200Bnk in bio', 'ｌｉｎｋ in bio']) {
      expect(ruleOf(await server.call('x_post_tweet', { text }))).toBe('hard:banned phrase');
    }
    const tweets = ['fine', 'see the link in bio'];
    expect(ruleOf(await server.call('x_post_thread', { tweets }))).toBe('hard:banned phrase');
    const scheduled = { tweets, scheduled_for: inMs(LATER_MS) };
    expect(ruleOf(await server.call('compose_tweet', scheduled))).toBe('hard:banned phrase');
    // The text is not lost.
    expect(await listed(server)).toMatchObject([{ state: 'draft', tweets }]);
    const dry = data(await server.call('x_post_tweet_dry_run', { text: 'link in bio' }));
    expect(dry).toMatchObject({ valid: false, decision: 'deny', rule: 'hard:banned phrase' });
    expect(created(upstream)).toEqual([]);
  });

  it('apply in the api profile too, where an operator configured them', async () => {
    const { server } = await world({ workflow, profile: 'api', rules: {} });
    expect(ruleOf(await server.call('x_post_tweet', { text: 'link in bio' }))).toBe(
      'hard:banned phrase',
    );
  });

  it('deny a reply to the account itself and to blocked authors, and mentions of these', async () => {
    const { upstream, server } = await world({ workflow, rules: allow });
    const own = data(await server.call('x_post_tweet', { text: 'mine' }));
    const toSelf = { text: 'and more', in_reply_to_id: own['id'] };
    expect(ruleOf(await server.call('x_reply_to_tweet', toSelf))).toBe('hard:self-reply');
    expect(ruleOf(await server.call('x_post_tweet', { text: 'hi @Nobody_Here' }))).toBe(
      'hard:blocked author',
    );
    const id = upstream.landmarks.mentionId;
    const { tweet } = data(await server.call('get_tweet_by_id', { tweet_id: id }));
    const author = (tweet as Data)['author_id'] as string;
    const other = await world({ workflow: { blockedAuthors: [author] }, rules: allow });
    const reply = { text: 'hello', in_reply_to_id: other.upstream.landmarks.mentionId };
    expect(ruleOf(await other.server.call('x_reply_to_tweet', reply))).toBe('hard:blocked author');
    expect(created(other.upstream)).toEqual([]);
  });

  it('limit the replies to one author over all calls, also concurrent ones', async () => {
    const { upstream, server } = await world({ workflow, rules: allow });
    const id = upstream.landmarks.mentionId;
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((text) =>
        server.call('x_reply_to_tweet', { text, in_reply_to_id: id }),
      ),
    );
    expect(answers.map(codeOf).toSorted()).toEqual([
      'ok',
      'ok',
      'policy_denied_hard_rule',
      'policy_denied_hard_rule',
    ]);
    const fifth = await server.call('x_reply_to_tweet', { text: 'e', in_reply_to_id: id });
    expect(ruleOf(fifth)).toBe('hard:author cap');
    expect(created(upstream)).toHaveLength(2);
  });

  it('are policy_error while X cannot tell the author', async () => {
    const { upstream, server } = await world({ workflow, rules: allow });
    upstream.setFaults([{ kind: 'http-500', routes: ['post'] }]);
    const reply = { text: 'a', in_reply_to_id: upstream.landmarks.mentionId };
    expect((await server.call('x_reply_to_tweet', reply)).error).toMatchObject({
      code: 'policy_error',
      retryable: true,
      outcome: 'not_executed',
    });
    upstream.setFaults([]);
    expect(created(upstream)).toEqual([]);
  });
});

describe('x_undo', () => {
  it('deletes what was posted, as an operation of its own', async () => {
    const { upstream, server } = await world({ rules: autopilot });
    const post = data(await server.call('x_post_tweet', { text: 'oops' }));
    await server.call('x_post_thread', { tweets: ['one', 'two'] });
    const { mutations } = data(await server.call('get_recent_mutations'));
    const [thread, tweet] = mutations as readonly (Data & { undo: Data })[];
    expect(tweet).toMatchObject({ tool: 'x_post_tweet', tweet_ids: [post['id']] });
    const { operation_id } = tweet!.undo;
    expect(data(await server.call('x_undo', { operation_id }))).toMatchObject({
      undone: [{ tool: 'x_delete_tweet', target_id: post['id'] }],
    });
    const undone = data(
      await server.call('x_undo', { operation_id: thread!.undo['operation_id'] }),
    );
    expect(undone).toMatchObject({ undone: { length: 2 }, remaining: [] });
    const deleted = upstream.commits().filter(({ kind }) => kind === 'post.deleted');
    expect(deleted).toHaveLength(3);
    const [last] = data(await server.call('get_recent_mutations'))['mutations'] as readonly Data[];
    expect(last).toMatchObject({ tool: 'x_delete_tweet', undo: null });
    const again = { operation_id: last!['operation_id'] };
    expect(codeOf(await server.call('x_undo', again))).toBe('invalid_input');
    expect(codeOf(await server.call('x_undo', { operation_id: 'op_none' }))).toBe('not_found');
    expect(data(await server.call('get_stats'))).toMatchObject({ deleted: 3, posts: { post: 0 } });
  });

  it('needs approval in composer mode like a direct call', async () => {
    const { upstream, server, folder, login } = await world({ rules: autopilot });
    await server.call('x_post_tweet', { text: 'to be undone' });
    const [made] = data(await server.call('get_recent_mutations'))['mutations'] as readonly Data[];
    await server.close();
    const strict = await start({ ...login, folder, profile: 'workflow', rules: composer });
    const undo = { operation_id: made!['operation_id'] };
    const { error } = await strict.call('x_undo', undo);
    expect(error).toMatchObject({ code: 'approval_required' });
    expect(await strict.approvals.list()).toMatchObject([{ tool: 'x_delete_tweet' }]);
    await decide(strict, error!.operation_id!, 'approve');
    await vi.waitUntil(() => upstream.commits().some(({ kind }) => kind === 'post.deleted'), soon);
  });

  it('is limited by a limit that names it, beside those of the call that it makes', async () => {
    const limits = { undos: { when: { tool: 'x_undo' }, perDay: 1 } };
    const { server } = await world({ rules: { ...autopilot, limits } });
    for (const text of ['a', 'b']) await server.call('x_post_tweet', { text });
    const { mutations } = data(await server.call('get_recent_mutations'));
    const codes: string[] = [];
    for (const { operation_id } of mutations as readonly Data[]) {
      codes.push(codeOf(await server.call('x_undo', { operation_id })));
    }
    expect(codes).toEqual(['ok', 'policy_denied_rate_limited']);
  });

  it('can be denied by a rule that names it', async () => {
    const rules = {
      ...autopilot,
      rules: [{ name: 'no undo', when: { tool: 'x_undo' }, action: 'deny' }],
    } as const;
    const { server } = await world({ rules });
    expect(codeOf(await server.call('x_undo', { operation_id: 'op_1' }))).toBe(
      'policy_denied_user_rule',
    );
  });
});

describe('defects of TuitBot that do not recur', () => {
  it('raw-JSON approvals: an approved like is a like, not a post of its arguments', async () => {
    const { upstream, server } = await world({ rules: composer });
    const args = { tweet_id: upstream.landmarks.popularPostId };
    const { error } = await server.call('x_like_tweet', args);
    const [shown] = data(await server.call('list_pending_approvals'))[
      'approvals'
    ] as readonly Data[];
    expect(shown).toMatchObject({ tool: 'x_like_tweet', arguments: args });
    await decide(server, error!.operation_id!, 'approve');
    await vi.waitUntil(() => upstream.commits().length > 0, soon);
    expect(upstream.commits().map(({ kind }) => kind)).toEqual(['like.created']);
  });

  it('self-approval: no tool approves, edits or settles', async () => {
    const { upstream, server } = await world({ rules: composer });
    await server.call('x_post_tweet', { text: 'let me' });
    const names = await server.tools();
    expect(names.filter((name) => /approve|reject|resolve|review/.test(name))).toEqual([]);
    // Nor does a repeated call, a draft of the same text, or an undo of the pending operation.
    await server.call('x_post_tweet', { text: 'let me', allow_duplicate: true });
    const [pending] = await server.approvals.list();
    await server.call('x_undo', { operation_id: pending!.id });
    expect(created(upstream)).toEqual([]);
  });

  it('never-matching rules: a rule for a tool of this profile applies under its listed name', async () => {
    const names = x.describe().flatMap(({ name, mutation }) => (mutation ? [name] : []));
    const rules = {
      ...autopilot,
      rules: [
        {
          name: 'mine',
          when: { tool: names.filter((name) => /draft|undo|compose/.test(name)) },
          action: 'deny',
        },
      ],
    } as const;
    const { server } = await world({ rules });
    for (const tool of ['compose_tweet', 'update_draft', 'cancel_draft', 'x_undo']) {
      expect(codeOf(await server.call(tool, argumentsOf[tool]))).toBe('policy_denied_user_rule');
    }
    const asking = await world({
      rules: {
        ...autopilot,
        rules: [{ name: 'ask', when: { tool: 'compose_tweet' }, action: 'require_approval' }],
      },
    });
    const scheduled = { tweets: ['a'], scheduled_for: inMs(LATER_MS) };
    expect(data(await asking.server.call('compose_tweet', scheduled))).toMatchObject({
      state: 'awaiting_approval',
    });
    expect(await asking.server.approvals.list()).toMatchObject([
      { tool: 'x_post_tweet', approval: { rule: 'ask' } },
    ]);
    await expect(
      world({
        rules: {
          ...autopilot,
          rules: [{ name: 'typo', when: { tool: 'post_tweet' }, action: 'deny' }],
        },
      }),
    ).rejects.toThrow('post_tweet');
  });

  it('lost drafts: a draft survives a restart and a stop while it was being scheduled', async () => {
    const { upstream, server, folder, login } = await world({ rules: autopilot });
    const { draft_id: id } = data(await server.call('compose_tweet', { tweets: ['kept'] }));
    const { draft: interrupted } = await scheduleSoon(server, { tweets: ['interrupted'] });
    const { draft_id: timed } = interrupted;
    await server.close();
    // As if the process had ended between storing the draft and handing it to the journal.
    const next = await start({
      ...login,
      folder,
      profile: 'workflow',
      rules: autopilot,
      journal: { pollMs: 20 },
    });
    expect(new Set((await listed(next)).map(({ draft_id }) => draft_id))).toEqual(
      new Set([id, timed]),
    );
    await vi.waitUntil(() => created(upstream).length === 1, soon);
    expect(created(upstream)).toMatchObject([{ text: 'interrupted' }]);
  });

  it('double posts: a post whose response was lost is not posted again by its draft or its author', async () => {
    const { upstream, server } = await world({ rules: autopilot });
    upstream.setFaults([{ kind: 'acted-http-500', routes: ['create-post'] }]);
    const { scheduled_for } = await scheduleSoon(server, { tweets: ['once'] });
    const draft = { tweets: ['once'], scheduled_for };
    await vi.waitUntil(() => created(upstream).length === 1, soon);
    upstream.setFaults([]);
    await vi.waitUntil(async () => (await listed(server))[0]?.['state'] === 'posted', soon);
    for (const call of [
      () => server.call('compose_tweet', draft),
      () => server.call('x_post_tweet', { text: 'once' }),
    ]) {
      await call();
    }
    expect(created(upstream)).toHaveLength(1);
  });
});
