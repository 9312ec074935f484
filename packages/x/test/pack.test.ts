import { readdirSync, readFileSync } from 'node:fs';
import { isJournaled, toolAnnotations, windowOf } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { createPackRig } from '@toolkeel/pack-kit/testing';
import { configSchema, x } from '../src/index.js';
import { secrets, useSandbox, useWorld } from './support/rig.js';

const { world } = useWorld();
const sandboxWorld = useSandbox();

const specOf = (name: string) => x.describe().find((spec) => spec.name === name)!;

/** Tool and argument names of TuitBot. */
const theirs: Readonly<Record<string, readonly string[]>> = {
  get_tweet_by_id: ['tweet_id'],
  x_search_tweets: ['query', 'max_results', 'since_id', 'pagination_token'],
  x_get_me: [],
  x_get_user_by_username: ['username'],
  x_get_user_by_id: ['user_id'],
  x_get_users_by_ids: ['user_ids'],
  x_get_user_tweets: ['user_id', 'max_results', 'pagination_token'],
  x_get_user_mentions: ['since_id', 'pagination_token'],
  x_get_home_timeline: ['max_results', 'pagination_token'],
  x_get_followers: ['user_id', 'max_results', 'pagination_token'],
  x_get_following: ['user_id', 'max_results', 'pagination_token'],
  x_get_liked_tweets: ['user_id', 'max_results', 'pagination_token'],
  x_get_tweet_liking_users: ['tweet_id', 'max_results', 'pagination_token'],
  x_get_bookmarks: ['max_results', 'pagination_token'],
  x_post_tweet: ['text', 'media_ids'],
  x_reply_to_tweet: ['text', 'in_reply_to_id', 'media_ids'],
  x_quote_tweet: ['text', 'quoted_tweet_id', 'media_ids'],
  x_post_thread: ['tweets', 'media_ids'],
  x_delete_tweet: ['tweet_id'],
  x_like_tweet: ['tweet_id'],
  x_unlike_tweet: ['tweet_id'],
  x_follow_user: ['target_user_id'],
  x_unfollow_user: ['target_user_id'],
  x_retweet: ['tweet_id'],
  x_unretweet: ['tweet_id'],
  x_bookmark_tweet: ['tweet_id'],
  x_unbookmark_tweet: ['tweet_id'],
  x_upload_media: ['file_path', 'alt_text', 'dry_run'],
  get_capabilities: [],
  health_check: [],
  get_config: [],
  validate_config: [],
  get_rate_limits: [],
};

describe('the pack', () => {
  it('accepts the argument names of TuitBot', () => {
    for (const [name, names] of Object.entries(theirs)) {
      expect(Object.keys(specOf(name).input.shape)).toEqual(expect.arrayContaining([...names]));
    }
  });

  it('has no unregistered tools', async () => {
    const { rig } = await world(() => ({ json: {} }));
    const names = (list: readonly { readonly name: string }[]) =>
      list.map(({ name }) => name).toSorted();
    expect(names(rig.instance.tools)).toEqual(names(x.describe()));
    expect(new Set(names(x.describe())).size).toBe(x.describe().length);
    for (const name of Object.keys(theirs)) expect(names(x.describe())).toContain(name);
  });

  it('has reads in every profile, and mutations only in api and workflow', () => {
    for (const { effect, profiles, name, requires } of x.describe()) {
      // Tools that need the journal, a mode or a language model exist in the workflow profile only.
      const isWorkflow = ['db', 'llm'].some((need) => requires.includes(need));
      if (isWorkflow || name === 'get_mode' || name === 'score_tweet') {
        expect({ name, profiles }).toEqual({ name, profiles: ['workflow'] });
        continue;
      }
      const expected = effect === 'read' ? ['readonly', 'api', 'workflow'] : ['api', 'workflow'];
      expect({ name, profiles }).toEqual({ name, profiles: expected });
    }
  });

  it('declares effects, windows and inverses', async () => {
    const { rig } = await world(() => ({ json: {} }));
    const of = (name: string) => rig.instance.tools.find((tool) => tool.name === name)!;
    for (const name of ['x_post_tweet', 'x_reply_to_tweet', 'x_quote_tweet', 'x_post_thread']) {
      expect({ name, effect: of(name).effect, window: windowOf(of(name)) }).toEqual({
        name,
        effect: 'once',
        window: 30_000,
      });
      expect(toolAnnotations(of(name))).toMatchObject({ destructiveHint: false });
    }
    for (const [act, undo] of [
      ['x_like_tweet', 'x_unlike_tweet'],
      ['x_follow_user', 'x_unfollow_user'],
      ['x_retweet', 'x_unretweet'],
      ['x_bookmark_tweet', 'x_unbookmark_tweet'],
    ] as const) {
      expect([of(act).effect, windowOf(of(act)), isJournaled(of(act))]).toEqual([
        'idempotent',
        30_000,
        true,
      ]);
      expect([of(undo).effect, windowOf(of(undo)), of(undo).inverse?.of]).toEqual([
        'idempotent',
        0,
        act,
      ]);
    }
    const { inverse } = of('x_delete_tweet');
    expect(
      inverse?.matches?.({ tweet_id: '5' }, { args: {}, data: { id: '5', text: 'a' }, steps: [] }),
    ).toBe(true);
    expect(
      inverse?.matches?.({ tweet_id: '5' }, { args: {}, data: { id: '6', text: 'a' }, steps: [] }),
    ).toBe(false);
    expect(of('x_post_tweet').reconcile?.authoritative).toBe(false);
  });

  it('sends explicitly, for the user id of X', async () => {
    const { rig } = await world(() => ({ json: { data: { id: '7', username: 'me' } } }), {
      account: 'main',
    });
    const context = {
      signal: new AbortController().signal,
      deadline: Infinity,
      correlationId: 'c',
    };
    for (const tool of rig.instance.tools) {
      const { name, mutation, send, account, accountId, delegates } = tool;
      const resolved = await accountId?.({}, context);
      const expected = mutation ? { id: 'x:7', formerly: ['main', 'main#7'] } : undefined;
      expect({ name, account, resolved, send }).toEqual({
        name,
        account: 'main',
        resolved: expected,
        // A tool that acts through others sends nothing itself.
        send: mutation && !delegates ? 'explicit' : 'automatic',
      });
    }
  });

  it('treats absence as proof only if configured', async () => {
    const { rig } = await world(() => ({ json: {} }), {
      reconcile: { authoritativeAfterSecs: 600 },
    });
    const posts = ['x_post_tweet', 'x_reply_to_tweet', 'x_quote_tweet'];
    const stated = rig.instance.tools
      .filter(({ reconcile }) => reconcile?.authoritative)
      .map(({ name, reconcile }) => ({ name, ...reconcile }));
    expect(stated).toEqual(
      posts.map((name) => ({
        name,
        authoritative: true,
        actsWithinMs: 600_000,
        confirmAfterMs: 60_000,
        readBack: expect.any(Function) as unknown,
      })),
    );
  });

  it('estimates costs', async () => {
    const { rig } = await world(() => ({ json: {} }), { prices: { bookmark: 1 } });
    const cost = (name: string, args: object) =>
      rig.instance.tools.find((tool) => tool.name === name)?.estimateCost?.({ ...args })?.amount;
    expect(cost('x_post_tweet', { text: 'a' })).toBe(0.015);
    expect(cost('x_post_tweet', { text: 'a https://example.com' })).toBe(0.2);
    expect(cost('x_post_thread', { tweets: ['a', 'b', 'c'] })).toBe(0.045);
    expect(cost('x_reply_to_tweet', { text: 'a' })).toBe(0.01);
    expect(cost('x_bookmark_tweet', {})).toBe(1);
    expect(cost('x_search_tweets', { max_results: 3 })).toBe(0.05);
  });

  it('loads no HTTP client before it is needed', () => {
    const folder = new URL('../src/', import.meta.url);
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(?<!\.test)\.ts$/.test(name),
    );
    expect(sources.length).toBeGreaterThan(40);
    for (const name of sources) {
      const text = readFileSync(new URL(name, folder), 'utf8');
      expect({ name, eager: /^(?:import|export) (?!type).*?from 'undici'/gm.test(text) }).toEqual({
        name,
        eager: false,
      });
    }
  });

  it('is described by its README, tool by tool and key by key', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    for (const { name } of x.describe()) expect(readme).toContain(`\`${name}\``);
    for (const key of Object.keys(configSchema.shape)) expect(readme).toContain(`\`${key}`);
  });
});

describe('about this installation', () => {
  it('get_config shows settings and no secret', async () => {
    const { rig } = await world(() => ({ json: {} }), {
      bearerToken: { env: 'APP' },
      clientSecret: { env: 'SECRET' },
      mediaDirectories: ['/pictures'],
    });
    const data = await rig.data('get_config');
    expect(data['config']).toMatchObject({
      accessToken: '[set]',
      bearerToken: '[set]',
      clientSecret: '[set]',
      mediaDirectories: ['/pictures'],
    });
    for (const secret of Object.values(secrets)) expect(JSON.stringify(data)).not.toContain(secret);
    const other = await world(() => ({ json: {} }), { baseUrl: 'https://me:sesame@x.example/' });
    expect(JSON.stringify(await other.rig.data('get_config'))).not.toContain('sesame');
  });

  it('validate_config finds what is missing', async () => {
    const good = await world(() => ({ json: {} }));
    expect(await good.rig.data('validate_config')).toEqual({ valid: true, findings: [] });
    const { rig } = await world(() => ({ json: {} }), {
      accessToken: undefined,
      baseUrl: 'http://x.example',
      mediaDirectories: ['/nowhere/at/all'],
      tokenFile: '/nowhere/x.json',
    });
    const { valid, findings } = await rig.data('validate_config');
    expect(valid).toBe(false);
    expect((findings as { setting: string }[]).map(({ setting }) => setting)).toEqual([
      'tokenFile',
      'baseUrl',
      'mediaDirectories',
    ]);
  });

  it('get_capabilities lists the tools and why some are unavailable', async () => {
    const { rig, another, sandbox } = await sandboxWorld();
    const reasons = async (given: typeof rig) => {
      const { tools } = await given.data('get_capabilities');
      const list = tools as { name: string; available: boolean; reason?: string }[];
      return Object.fromEntries(list.map(({ name, reason }) => [name, reason]));
    };
    expect(await reasons(rig)).toMatchObject({
      x_post_tweet: undefined,
      x_like_tweet: expect.stringContaining('enterprise') as string,
      x_upload_media: 'mediaDirectories is empty',
    });
    const app = await another({ accessToken: undefined, bearerToken: { env: 'APP' } });
    expect(await reasons(app)).toMatchObject({
      x_search_tweets: undefined,
      x_post_tweet: 'requires a user login',
    });
    const needy = x.describe().filter(({ requires }) => requires.includes('x_client'));
    expect(Object.keys(await reasons(rig)).toSorted()).toEqual(
      needy.map(({ name }) => name).toSorted(),
    );
    expect(sandbox.log()).toEqual([]);
    // A host without the workflow profile does not have its tools.
    const api = await createPackRig(x, { baseUrl: sandbox.url });
    const names = Object.keys(await reasons(api));
    await api.close();
    expect(names.filter((name) => !specOf(name).profiles.includes('api'))).toEqual([]);
  });

  it('get_rate_limits lists windows of successes and rejections', async () => {
    const { rig, sandbox } = await sandboxWorld();
    expect(await rig.data('get_rate_limits')).toEqual({ limits: [] });
    await rig.data('x_get_me');
    await rig.data('x_post_tweet', { text: 'a' });
    sandbox.setFaults([{ kind: 'x-403-not-permitted', routes: ['search'], times: 1 }]);
    await rig.code('x_search_tweets', { query: 'a' });
    const { limits } = await rig.data('get_rate_limits');
    expect(limits).toMatchObject([
      {
        endpoint: 'GET /2/users/me',
        credential: 'user',
        window: '15 minutes',
        limit: 75,
        remaining: 74,
      },
      { endpoint: 'POST /2/tweets', window: '15 minutes', limit: 100, remaining: 99 },
      { endpoint: 'POST /2/tweets', window: '24h app', limit: 10_000 },
      { endpoint: 'GET /2/tweets/search/recent', window: '15 minutes', limit: 300 },
    ]);
  });

  it('an exhausted window of a success blocks the next call', async () => {
    const { rig, sandbox } = await sandboxWorld({ limits: { me: { user: 2 } } });
    await rig.data('x_get_me');
    await rig.data('x_get_me');
    expect(await rig.code('x_get_me')).toBe('x_rate_limited');
    expect(sandbox.log({ route: 'me' })).toHaveLength(2);
  });

  it('health_check sends a request unless X has just answered', async () => {
    const { rig, sandbox, another } = await sandboxWorld();
    expect(await rig.data('health_check', { probe: false })).toMatchObject({
      ok: true,
      last_success_at: null,
    });
    expect(sandbox.log()).toEqual([]);
    expect(await rig.data('health_check')).toMatchObject({
      ok: true,
      problem: null,
      circuit: 'closed',
    });
    await rig.data('health_check');
    expect(sandbox.log()).toHaveLength(1);
    const app = await another({ accessToken: undefined, bearerToken: { env: 'APP' } });
    expect(await app.data('health_check')).toMatchObject({ ok: true });
    expect(await app.instance.health()).toEqual({ ok: true, detail: 'default: answers' });
    const loggedOut = await another({ accessToken: undefined });
    expect(await loggedOut.data('health_check')).toMatchObject({
      ok: false,
      configured: false,
      problem: { code: 'x_not_configured' },
    });
    const ill = await another();
    sandbox.setFaults([{ kind: 'x-403-suspended' }]);
    expect(await ill.data('health_check')).toMatchObject({
      ok: false,
      problem: { code: 'x_account_restricted' },
    });
    expect((await ill.instance.health()).ok).toBe(false);
  });
});
