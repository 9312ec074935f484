import type { FaultKind, FaultRule, XSandbox } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import type { RuntimeContext } from '../src/index.js';
import { uploadPicture } from './support/acts.js';
import { type Config, created, journaled, useSandbox } from './support/rig.js';

const sandboxWorld = useSandbox();

/** Faults after X has executed the request, and faults before that. */
const acted: readonly FaultRule[] = [
  { kind: 'reset-after-read' },
  { kind: 'close-after-read' },
  { kind: 'acted-http-503' },
  { kind: 'acted-http-500' },
  { kind: 'acted-stall', stallMs: 20 },
  { kind: 'half-body' },
  { kind: 'malformed-json' },
  { kind: 'garbage' },
  { kind: 'empty-json' },
  { kind: 'length-too-long' },
  { kind: 'length-too-short' },
];
const untouched: readonly FaultRule[] = [
  { kind: 'reset-before-read' },
  { kind: 'close-before-read' },
  { kind: 'stall', stallMs: 20 },
  { kind: 'http-500' },
  { kind: 'http-503' },
  { kind: 'html-200' },
  { kind: 'html-502' },
  { kind: 'redirect', location: 'http://127.0.0.1:9/' },
];

const named = (rules: readonly FaultRule[]) => rules.map((rule) => [rule.kind, rule] as const);

/** Texts and targets that X changes. */
const posts = (x: XSandbox) =>
  [
    ['x_post_tweet', { text: 'plain' }],
    [
      'x_post_tweet',
      { text: 'links https://example.com/a?b=1&c=2 and example.org <&> “café\u0301”' },
    ],
    ['x_post_tweet', { text: 'Österreich.at lädt ein' }],
    ['x_reply_to_tweet', { text: 'yes & no', in_reply_to_id: x.landmarks.mentionId }],
    ['x_quote_tweet', { text: 'look', quoted_tweet_id: x.landmarks.unaskedPostId }],
  ] as const;

/** Only a fault ends a call: its timeouts are long enough for a busy machine. */
async function enterprise(config: Config = {}, context: RuntimeContext = {}) {
  const settings = { toolTimeoutSecs: 40, attemptTimeoutSecs: 20, ...config };
  const opened = await sandboxWorld({ tier: 'enterprise' }, settings, context);
  return { ...opened, journal: journaled(opened.rig, 40_000) };
}

describe.concurrent('a post that X executed without a valid response', () => {
  it.each(named(acted))('is read back after %s and not resent', async (_, rule) => {
    const { rig, sandbox, journal } = await enterprise();
    for (const [tool, args] of posts(sandbox)) {
      const before = created(sandbox).length;
      sandbox.setFaults([{ ...rule, routes: ['create-post'], times: 1 }]);
      const data = await rig.data(tool, args, journal);
      const commits = created(sandbox).slice(before);
      expect(commits).toHaveLength(1);
      expect(data['id']).toBe(commits[0]?.id);
    }
  });

  it('is read back with its media', async () => {
    const { rig, sandbox, journal } = await enterprise();
    const mediaId = await uploadPicture(sandbox);
    for (const text of ['with a picture', '']) {
      sandbox.setFaults([{ kind: 'reset-after-read', routes: ['create-post'], times: 1 }]);
      const data = await rig.data('x_post_tweet', { text, media_ids: [mediaId] }, journal);
      expect(data['id']).toBe(created(sandbox).at(-1)?.id);
    }
  });

  it.each(named([{ kind: 'garbage' }, { kind: 'http-503', times: 3 }, { kind: 'x-429-window' }]))(
    'is found although the first read-back fails with %s',
    async (_, rule) => {
      const { rig, sandbox, journal } = await enterprise();
      await rig.run('x_get_me');
      sandbox.setFaults([
        { kind: 'acted-http-503', routes: ['create-post'], times: 1 },
        { times: 1, retryAfter: { seconds: 1 }, ...rule, routes: ['user-posts'] },
      ]);
      const data = await rig.data('x_post_tweet', { text: 'look again' }, journal);
      expect(data['id']).toBe(created(sandbox)[0]?.id);
    },
  );

  it('is found although many timeouts opened the circuit', async () => {
    const { rig, sandbox, journal } = await enterprise({ attemptTimeoutSecs: 2 });
    await rig.run('x_get_me');
    sandbox.setFaults([{ kind: 'acted-stall', routes: ['create-post'], times: 20 }]);
    const texts = Array.from({ length: 20 }, (_, index) => `one of many, ${index}`);
    const found = await Promise.all(
      texts.map((text) => rig.data('x_post_tweet', { text }, journal)),
    );
    expect(rig.events.map(({ type }) => type)).toContain('circuit_open');
    const made = new Map(created(sandbox).map(({ id, text }) => [text, id]));
    expect(found.map(({ id }) => id)).toEqual(texts.map((text) => made.get(text)));
  });

  it('is not searched again if X forbids the read-back', async () => {
    const { rig, sandbox, journal } = await enterprise();
    await rig.run('x_get_me');
    sandbox.setFaults([
      { kind: 'acted-http-503', routes: ['create-post'], times: 1 },
      { kind: 'x-403-not-permitted', routes: ['user-posts'] },
    ]);
    expect(await rig.error('x_post_tweet', { text: 'who knows' }, journal)).toMatchObject({
      code: 'outcome_unknown',
      outcome: 'unknown',
      details: { cause_code: 'x_api_error' },
    });
    expect(sandbox.log({ route: 'user-posts' })).toHaveLength(1);
  });

  it('is searched for a bounded time', async () => {
    const { rig, sandbox, journal } = await enterprise({}, { readBackMs: 2_000 });
    sandbox.setLag(500);
    sandbox.setFaults([{ kind: 'acted-http-503', routes: ['create-post'], times: 1 }]);
    const data = await rig.data('x_post_tweet', { text: 'late' }, journal);
    expect(data['id']).toBe(created(sandbox)[0]?.id);
    sandbox.setLag(60_000);
    sandbox.setFaults([{ kind: 'acted-http-503', routes: ['create-post'], times: 1 }]);
    const error = await rig.error('x_post_tweet', { text: 'too late' }, journal);
    expect(error).toMatchObject({
      code: 'outcome_unknown',
      retryable: false,
      outcome: 'unknown',
      details: { cause_code: 'x_api_error', status: 503 },
    });
    expect(created(sandbox)).toHaveLength(2);
  });
});

describe.concurrent('a post that did not reach X', () => {
  it.each(named(untouched))('is not resent after %s and stays unknown', async (_, rule) => {
    const { rig, sandbox } = await enterprise();
    for (const [tool, args] of posts(sandbox).slice(0, 2)) {
      sandbox.setFaults([{ ...rule, routes: ['create-post'], times: 1 }]);
      expect(await rig.error(tool, args)).toMatchObject({
        code: 'outcome_unknown',
        outcome: 'unknown',
      });
    }
    expect(created(sandbox)).toEqual([]);
    expect(sandbox.log({ route: 'create-post' })).toHaveLength(2);
  });

  it('is resent if no connection was made', async () => {
    const { rig, sandbox } = await enterprise();
    sandbox.setFaults([{ kind: 'reset-on-connect', times: 1 }]);
    expect(await rig.data('x_post_tweet', { text: 'second try' })).toBeDefined();
    expect(created(sandbox)).toHaveLength(1);
  });

  it('has the outcome not_executed while X is unreachable', async () => {
    const { rig, sandbox } = await enterprise({ maxRetries: 1 });
    await sandbox.setReachable(false);
    expect(await rig.error('x_post_tweet', { text: 'hello?' })).toMatchObject({
      code: 'x_network_error',
      retryable: true,
      outcome: 'not_executed',
    });
    await sandbox.setReachable(true);
    expect(await rig.data('x_post_tweet', { text: 'hello?' })).toBeDefined();
  });
});

describe.concurrent('a rejection', () => {
  const refusals: readonly [FaultKind, string, string?][] = [
    ['x-402-credits', 'x_credits_depleted'],
    ['x-403-duplicate', 'upstream_rejected', 'duplicate_content'],
    ['x-403-reply-not-allowed', 'x_forbidden', 'reply_not_allowed'],
    ['x-403-not-permitted', 'x_forbidden', 'forbidden'],
    ['x-403-not-authorized', 'x_forbidden', 'forbidden'],
    ['x-403-spend-cap', 'x_credits_depleted'],
    ['x-403-client-not-enrolled', 'x_forbidden', 'not_enrolled'],
    ['x-403-user-not-enrolled', 'x_forbidden', 'not_enrolled'],
    ['x-403-official-client', 'x_forbidden', 'not_enrolled'],
    ['x-403-unsupported-authentication', 'x_forbidden', 'wrong_auth_kind'],
    ['x-403-oauth1-permissions', 'x_forbidden', 'wrong_auth_kind'],
    ['x-403-suspended', 'x_account_restricted', 'account_restricted'],
    ['x-403-locked', 'x_account_restricted', 'account_restricted'],
    ['x-403-restricted', 'x_account_restricted', 'account_restricted'],
    ['http-404', 'not_found'],
    ['http-400', 'upstream_rejected', 'invalid_request'],
    ['http-409', 'upstream_rejected', 'conflict'],
  ];

  it.for(refusals)('%s is %s with the outcome not_executed', async ([kind, code, reason]) => {
    const { rig, sandbox } = await enterprise();
    sandbox.setFaults([{ kind, routes: ['create-post'], times: 1 }]);
    const error = await rig.error('x_post_tweet', { text: 'no' });
    expect(error).toMatchObject({ code, retryable: false, outcome: 'not_executed' });
    if (reason !== undefined) expect(error.details).toMatchObject({ reason });
    expect(created(sandbox)).toEqual([]);
    expect(sandbox.log({ route: 'create-post' })).toHaveLength(1);
  });

  it.each([
    ['x-429-window', '15 minutes', 900_000],
    ['x-429-legacy', '15 minutes', 900_000],
    ['x-429-day', '24h user', 86_400_000],
  ] as const)('%s has a time to wait, and the next call is not sent', async (kind, scope, ms) => {
    const { rig, sandbox } = await enterprise();
    sandbox.setFaults([{ kind, routes: ['create-post'], times: 1 }]);
    for (const sent of [1, 1]) {
      const error = await rig.error('x_post_tweet', { text: 'slower' });
      expect(error).toMatchObject({
        code: 'x_rate_limited',
        retryable: true,
        outcome: 'not_executed',
        details: { scope },
      });
      expect(error.retry_after_ms).toBeGreaterThan(ms - 5_000);
      expect(error.retry_after_ms).toBeLessThanOrEqual(ms + 1_000);
      expect(Date.parse(error.rate_limit_reset ?? '')).toBeGreaterThan(Date.now());
      expect(sandbox.log({ route: 'create-post' })).toHaveLength(sent);
    }
    // Rate limits are per endpoint.
    expect(await rig.data('x_get_me')).toBeDefined();
  });

  it('x-429-usage-cap has no time to wait', async () => {
    const { rig, sandbox } = await enterprise();
    sandbox.setFaults([{ kind: 'x-429-usage-cap', routes: ['post'], times: 1 }]);
    const error = await rig.error('get_tweet_by_id', { tweet_id: '1' });
    expect(error).toMatchObject({ code: 'x_rate_limited', details: { final: true } });
    expect(error.retry_after_ms).toBeUndefined();
  });
});

describe.concurrent('an idempotent change', () => {
  const engagements = [
    ['x_like_tweet', 'like', 'x_unlike_tweet', 'unlike'],
    ['x_retweet', 'repost', 'x_unretweet', 'unrepost'],
  ] as const;

  it.each(named([...acted.slice(0, 6), { kind: 'http-503' }, { kind: 'reset-before-read' }]))(
    'is retried after %s',
    async (_, rule) => {
      const { rig, sandbox } = await enterprise();
      const args = { tweet_id: sandbox.landmarks.unaskedPostId };
      for (const [act, actRoute, undo, undoRoute] of engagements) {
        sandbox.setFaults([{ ...rule, routes: [actRoute, undoRoute], times: 1 }]);
        expect(await rig.data(act, args)).toBeDefined();
        sandbox.setFaults([{ ...rule, routes: [actRoute, undoRoute], times: 1 }]);
        expect(await rig.data(undo, args)).toBeDefined();
      }
      const kinds = sandbox.commits().map(({ kind }) => kind);
      expect(kinds).toEqual(['like.created', 'like.deleted', 'repost.created', 'repost.deleted']);
    },
  );

  it('is repeated once after an unreadable response, which counts as a retry', async () => {
    const { rig, sandbox } = await enterprise();
    sandbox.setFaults([{ kind: 'garbage', routes: ['like'], times: 1 }]);
    const args = { tweet_id: sandbox.landmarks.unaskedPostId };
    const { success, meta } = await rig.run('x_like_tweet', args);
    expect({ success, retries: meta.retry_count }).toEqual({ success: true, retries: 1 });
    expect(sandbox.log({ route: 'like' })).toHaveLength(2);
  });

  it('a delete that was executed and not confirmed is a success', async () => {
    const { rig, sandbox } = await enterprise();
    const { id } = await rig.data('x_post_tweet', { text: 'gone soon' });
    sandbox.setFaults([{ kind: 'reset-after-read', routes: ['delete-post'], times: 1 }]);
    expect(await rig.data('x_delete_tweet', { tweet_id: id })).toEqual({ id, deleted: true });
    expect(sandbox.commits({ kind: 'post.deleted' })).toHaveLength(1);
  });
});
