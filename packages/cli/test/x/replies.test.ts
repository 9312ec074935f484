import { describe, expect, it } from 'vitest';
import { run } from '../../src/run.js';
import { fakeRuntime } from '../../src/runtime.fixture.js';
import { useSharedWorkflow, useWorkflow, type Stage } from '../support/workflow.js';

const workflow = {
  keywords: ['bicycle', 'brake pads'],
  topics: ['brakes'],
  bannedPhrases: ['link in bio'],
  maxRepliesPerAuthorPerDay: 2,
};

/** Other accounts of the sandbox. */
async function strangers({ call, x }: Stage, count: number) {
  const { data } = await call('x_get_followers', { user_id: x.landmarks.me.id, max_results: 50 });
  return (data['users'] as readonly { readonly id: string; readonly username: string }[]).slice(
    0,
    count,
  );
}

/** Has each of them post, and finds the posts. */
async function candidates(server: Stage, texts: readonly string[]) {
  const authors = await strangers(server, texts.length);
  const ids: string[] = [];
  for (const [index, text] of texts.entries()) {
    ids.push(await server.postAs(authors[index]!.id, text));
  }
  const { data } = await server.call('find_reply_opportunities', {
    query: 'bicycle',
    min_score: 0,
    limit: 20,
  });
  return {
    ids,
    authors,
    found: data['candidates'] as readonly Readonly<Record<string, unknown>>[],
  };
}

/** The replies that X has created; only this account replies here. */
const posted = ({ x }: Stage) =>
  x
    .commits({ kind: 'post.created' })
    .flatMap((commit) => ('reply_to' in commit && commit.reply_to ? [commit.text] : []));

describe('discovery and context', () => {
  const stage = useSharedWorkflow({ settings: { workflow } });

  it('find, explain and remember tweets, and see replies of any tool', async () => {
    const server = stage();
    const { ids, authors, found } = await candidates(server, [
      'My bicycle needs brake pads. Which ones last?',
      'A bicycle, at last.',
    ]);
    await server.call('x_post_tweet', { text: 'A bicycle post of our own' });
    expect(found.map(({ tweet_id: id }) => id)).toEqual(ids);
    expect(found[0]).toMatchObject({
      author_username: authors[0]?.username,
      replied: false,
      matched_keywords: ['bicycle', 'brake pads'],
      factors: expect.arrayContaining([
        { factor: 'keywords', score: 25, max: 25, detail: 'matches bicycle, brake pads' },
        { factor: 'content', score: 10, max: 10, detail: 'only text' },
        expect.objectContaining({ factor: 'followers', score: expect.any(Number) as number }),
      ]) as unknown,
    });
    const [first, second] = ids;
    // The tool for a single reply, not the one for proposals.
    const text = 'Sintered ones last longest in the rain.';
    const reply = await server.call('x_reply_to_tweet', { text, in_reply_to_id: first });
    expect(reply.success).toBe(true);
    const idsIn = async (tool: string, args: object = {}) => {
      const { data } = await server.call(tool, { ...args });
      return (data['candidates'] as readonly { readonly tweet_id: string }[]).map(
        ({ tweet_id: id }) => id,
      );
    };
    expect(await idsIn('list_unreplied_tweets', { threshold: 0 })).toEqual([second]);
    expect(await idsIn('get_discovery_feed', { min_score: 0 })).toEqual(ids);
    expect(await idsIn('get_discovery_feed', { min_score: 90 })).toEqual([]);

    const { data: context } = await server.call('get_author_context', {
      identifier: `@${authors[0]?.username.toUpperCase()}`,
    });
    expect(context).toMatchObject({
      author: { id: authors[0]?.id, username: authors[0]?.username },
      interactions: { replies_sent: 1, replies_last_day: 1, active_days: 1 },
      response: { measured: 0, rate: null, average_performance: null },
      risks: [{ signal: 'no_measured_performance' }],
      topics: [
        { keyword: 'bicycle', tweets: 1 },
        { keyword: 'brake pads', tweets: 1 },
      ],
      history: [
        {
          tweet_id: reply.data['id'],
          text: expect.stringContaining(text) as string,
          in_reply_to_id: first,
          in_reply_to_text: 'My bicycle needs brake pads. Which ones last?',
          performance: null,
        },
      ],
    });
    const unknown = await server.call('get_author_context', { identifier: 'nobody_here' });
    expect(unknown.data).toMatchObject({
      author: { id: null, username: null },
      risks: [{ signal: 'no_prior_interaction' }],
    });

    const { data: advice } = await server.call('recommend_engagement_action', {
      author_username: authors[0]?.username,
      tweet_text: 'Which brake pads fit a bicycle trailer?',
      campaign_objective: 'trailer brake service',
    });
    expect(advice).toMatchObject({
      action: 'observe',
      factors: [
        { factor: 'keyword_relevance', score: 60, weight: 30 },
        { factor: 'author_relationship', score: 50 },
        { factor: 'author_frequency', score: 40 },
        { factor: 'daily_capacity', score: 100 },
        { factor: 'campaign_alignment', score: 60 },
      ],
      considerations: [],
    });
  });

  it('report the configured targets and topics', async () => {
    const server = stage();
    const [target] = await strangers(server, 1);
    const other = await server.another({
      settings: { workflow: { ...workflow, targetAccounts: [`@${target?.username}`, 'nobody'] } },
    });
    expect((await other.call('list_target_accounts')).data).toMatchObject({
      accounts: [
        { username: `@${target?.username}`, interactions: { replies_sent: 1 } },
        { username: 'nobody', interactions: { replies_sent: 0 } },
      ],
    });
    await server.call('x_post_tweet', { text: 'Why brakes squeal' });
    expect((await server.call('topic_performance_snapshot')).data).toMatchObject({
      posts: 1,
      measured: 0,
      average: null,
      topics: [{ topic: 'brakes', posts: 1, measured: 0, average: null, advice: 'experiment' }],
    });
  });

  it('score_tweet explains a score without a request', async () => {
    const server = stage();
    const before = server.x.log().length;
    const { data } = await server.call('score_tweet', { text: 'My bicycle', replies: 5 });
    expect(data).toMatchObject({ max: 90, threshold: 60, matched_keywords: ['bicycle'] });
    const factors = data['factors'] as readonly { readonly score: number | null }[];
    expect(factors.map(({ score }) => score)).toEqual([8.33, null, null, null, 11.25, null]);
    expect(server.x.log()).toHaveLength(before);
  });
});

describe('propose_and_queue_replies', () => {
  const start = useWorkflow();
  const outcomes = (data: Readonly<Record<string, unknown>>) =>
    (data['results'] as readonly Readonly<Record<string, unknown>>[]).map(({ status, error }) =>
      [status, (error as { code?: string } | undefined)?.code].join(' '),
    );

  it('checks every reply first, and reports each', async () => {
    const server = await start({ settings: { workflow } });
    const texts = ['one', 'two', 'three', 'four'].map((word) => `My bicycle is number ${word}`);
    const { ids } = await candidates(server, texts);
    const [one, two, three, four] = ids;
    await server.call('x_reply_to_tweet', { text: 'A first reply', in_reply_to_id: one });
    const good = 'Number two is the best bicycle of all of them';
    const items = [
      { candidate_id: one, text: 'A second reply' },
      { candidate_id: two, text: good },
      { candidate_id: two, text: 'Another one' },
      { candidate_id: three, text: `${good}!` },
      { candidate_id: four, text: 'More: LINK in bio' },
      { candidate_id: '1', text: 'To nobody' },
      { candidate_id: four, text: 'x'.repeat(300) },
    ];
    const { success, data } = await server.call('propose_and_queue_replies', { items });
    expect(success).toBe(true);
    expect(outcomes(data)).toEqual([
      'blocked policy_denied_hard_rule',
      'executed ',
      'blocked policy_denied_hard_rule',
      'blocked policy_denied_hard_rule',
      'blocked policy_denied_hard_rule',
      'failed not_found',
      'failed tweet_too_long',
    ]);
    expect(posted(server)).toEqual(['A first reply', good]);
    // A repeat reports the reply instead of sending or refusing another.
    const again = await server.call('propose_and_queue_replies', {
      items: [{ candidate_id: two, text: good }],
    });
    expect(again.data['results']).toEqual([(data['results'] as unknown[])[1]]);
    expect(posted(server)).toHaveLength(2);
    // Nothing sent or queued is a failure, with the same details.
    const none = await server.call('propose_and_queue_replies', { items: items.slice(0, 1) });
    expect(none).toMatchObject({
      success: false,
      error: { code: 'policy_denied_hard_rule', outcome: 'not_executed' },
      data: { results: [{ status: 'blocked' }] },
    });
  });

  it('does not reply twice by a repeat, after another tool has replied', async () => {
    const settings = { workflow: { ...workflow, maxRepliesPerAuthorPerDay: 9 } };
    const server = await start({ settings });
    const { ids } = await candidates(server, ['My bicycle is slow']);
    const items = [{ candidate_id: ids[0], text: 'Try to pedal' }];
    server.x.setFaults([{ kind: 'http-401', routes: ['create-post'] }]);
    const failed = await server.call('propose_and_queue_replies', { items });
    expect(outcomes(failed.data)[0]).toMatch(/^failed /);
    server.x.setFaults([]);
    await server.call('x_reply_to_tweet', { text: 'Pump the tyres', in_reply_to_id: ids[0] });
    const again = await server.call('propose_and_queue_replies', { items });
    expect(outcomes(again.data)).toEqual(['blocked policy_denied_hard_rule']);
    expect(posted(server)).toEqual(['Pump the tyres']);
  });

  it('does not send two replies to one tweet for two calls at once, of two servers', async () => {
    const settings = { workflow: { ...workflow, maxRepliesPerAuthorPerDay: 9 } };
    const server = await start({ settings });
    const other = await server.another();
    const { ids } = await candidates(server, ['My bicycle is slow']);
    const propose = (by: Pick<Stage, 'call'>, text: string) =>
      by.call('propose_and_queue_replies', { items: [{ candidate_id: ids[0], text }] });
    const answers = await Promise.all([
      propose(server, 'Try to pedal'),
      propose(server, 'Pump the tyres'),
      propose(other, 'Oil the chain'),
    ]);
    expect(answers.map(({ data }) => outcomes(data).join()).toSorted()).toEqual([
      'blocked policy_denied_hard_rule',
      'blocked policy_denied_hard_rule',
      'executed ',
    ]);
    expect(posted(server)).toHaveLength(1);
  });

  it('takes a text with space around it for the same reply', async () => {
    const server = await start({ settings: { workflow } });
    const { ids } = await candidates(server, ['My bicycle is slow']);
    const propose = (text: string) =>
      server.call('propose_and_queue_replies', { items: [{ candidate_id: ids[0], text }] });
    const { data } = await propose('Try to pedal');
    expect((await propose(' Try to pedal\n')).data).toEqual(data);
    expect(posted(server)).toEqual(['Try to pedal']);
  });

  it('does not report a reply as executed that was deleted since', async () => {
    const server = await start({ settings: { workflow } });
    const { ids } = await candidates(server, ['My bicycle is slow']);
    const items = [{ candidate_id: ids[0], text: 'Try to pedal' }];
    await server.call('propose_and_queue_replies', { items });
    const { data } = await server.call('get_recent_mutations');
    const [{ operation_id: id }] = data['mutations'] as [{ readonly operation_id: string }];
    expect((await server.call('x_undo', { operation_id: id })).success).toBe(true);
    const again = await server.call('propose_and_queue_replies', { items });
    expect(outcomes(again.data)).toEqual(['blocked policy_denied_hard_rule']);
    expect(posted(server)).toHaveLength(1);
  });

  it('hides candidates of an author who was blocked since, and finds none of these', async () => {
    const server = await start({ settings: { workflow } });
    const { ids, authors } = await candidates(server, ['My bicycle is slow', 'A bicycle']);
    const blockedAuthors = [authors[0]!.username];
    const other = await server.another({ settings: { workflow: { ...workflow, blockedAuthors } } });
    const shown = async (tool: string, args: object) => {
      const { data } = await other.call(tool, { ...args });
      return (data['candidates'] as readonly { readonly tweet_id: string }[]).map(
        ({ tweet_id: id }) => id,
      );
    };
    expect(await shown('get_discovery_feed', { min_score: 0 })).toEqual([ids[1]]);
    expect(await shown('list_unreplied_tweets', { threshold: 0 })).toEqual([ids[1]]);
    const search = { query: 'bicycle', min_score: 0 };
    expect(await shown('find_reply_opportunities', search)).toEqual([ids[1]]);
  });

  it('refuses a text with 80 % of the words of another, not one with fewer', async () => {
    const server = await start({ settings: { workflow } });
    const { ids } = await candidates(server, ['A bicycle', 'My bicycle', 'Her bicycle']);
    const words = 'one two three four five six seven eight nine'.split(' ');
    const items = [
      { candidate_id: ids[0], text: words.join(' ') },
      { candidate_id: ids[1], text: [...words.slice(1), 'ten'].join(' ') },
      { candidate_id: ids[2], text: [...words.slice(2), 'ten', 'eleven'].join(' ') },
    ];
    const { data } = await server.call('propose_and_queue_replies', { items });
    expect(outcomes(data)).toEqual(['executed ', 'blocked policy_denied_hard_rule', 'executed ']);
  });

  it('compares with replies that wait for approval, also of earlier calls', async () => {
    const server = await start({ settings: { workflow }, config: { profile: 'workflow' } });
    const { ids } = await candidates(server, ['A bicycle', 'Another bicycle']);
    const text = 'The same friendly words for every bicycle here';
    const propose = (id: string | undefined) =>
      server.call('propose_and_queue_replies', { items: [{ candidate_id: id, text }] });
    expect(outcomes((await propose(ids[0])).data)).toEqual(['queued approval_required']);
    expect(outcomes((await propose(ids[1])).data)).toEqual(['blocked policy_denied_hard_rule']);
    expect(outcomes((await propose(ids[0])).data)).toEqual(['queued approval_required']);
  });

  it('in composer mode: an operator edits one, approves two and rejects one of three', async () => {
    const server = await start({ settings: { workflow }, config: { profile: 'workflow' } });
    const { ids } = await candidates(server, ['My bicycle', 'Your bicycle', 'Her bicycle']);
    const replies = ['Mine is red and rather old', 'Yours looks quick even when parked', 'No'];
    const items = ids.map((id, index) => ({ candidate_id: id, text: replies[index] }));
    const propose = () => server.call('propose_and_queue_replies', { items });
    const { data } = await propose();
    expect(outcomes(data)).toEqual(Array(3).fill('queued approval_required'));
    expect(posted(server)).toEqual([]);
    // A repeat joins the pending approvals.
    expect((await propose()).data).toEqual(data);

    const [first, second, third] = (
      data['results'] as readonly { readonly operation_id: string }[]
    ).map(({ operation_id: id }) => id);
    const env = { TOOLKEEL_DATA_DIR: `${server.folder}/data` };
    const command = async (...args: readonly string[]): Promise<string> => {
      const runtime = fakeRuntime({ cwd: server.folder, env });
      const code = await run(['approvals', ...args], runtime);
      expect(code).toBe(0);
      return runtime.output();
    };
    const decide = async (verb: string, id: string, ...more: readonly string[]) => {
      const shown = JSON.parse(await command('show', id, '--json')) as {
        readonly approval: { readonly hash: string };
      };
      await command(verb, id, '--hash', shown.approval.hash, '--by', 'ana', ...more);
    };
    await decide('edit', first!, '--set', 'text=Mine is red');
    await decide('approve', first!);
    await decide('approve', second!);
    await decide('reject', third!);

    await expect.poll(() => posted(server).length).toBe(2);
    await expect
      .poll(async () => outcomes((await propose()).data))
      .toEqual(['executed ', 'executed ', 'blocked approval_denied']);
    expect(new Set(posted(server))).toEqual(new Set(['Mine is red', replies[1]]));
    expect(posted(server)).toHaveLength(2);
    const { data: unreplied } = await server.call('list_unreplied_tweets', { threshold: 0 });
    expect(unreplied['candidates']).toMatchObject([{ tweet_id: ids[2] }]);
  });
});
