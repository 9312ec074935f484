import { describe, expect, test } from 'vitest';
import type { FaultKind, FaultRule, XSandbox } from '@toolkeel/sandbox';
import { mutations } from './support/x-mutations.js';
import { closeXSandboxesAfterEach, get, posted, send, xSandbox, type Thing } from './support/x.js';

closeXSandboxesAfterEach();

type Seen = { readonly status: number; readonly text: string } | { readonly failed: string };

/** The client's view of a mutation under a fault. */
async function strike(
  x: XSandbox,
  { route, act, before }: (typeof mutations)[number],
  rule: FaultRule,
): Promise<{ seen: Seen; committed: number }> {
  x.setFaults([]);
  await before?.(x);
  const done = x.commits().length;
  const own = rule.kind === 'reset-on-connect' ? {} : { routes: [route] };
  x.setFaults([{ ...own, ...rule, times: 1 }]);
  const seen: Seen = await act(x).then(
    ({ status, text }) => ({ status, text }),
    (cause: unknown) => ({ failed: String((cause as { code?: unknown }).code ?? cause) }),
  );
  return { seen, committed: x.commits().length - done };
}

const BROKEN = expect.stringMatching(/UND_ERR_SOCKET|ECONNRESET|SyntaxError|UND_ERR_BODY/);

/** Faults, the client's view, and the number of commits. */
const points: readonly (readonly [rule: FaultRule, seen: object, committed: 0 | 1])[] = [
  [{ kind: 'reset-before-read' }, { failed: BROKEN }, 0],
  [{ kind: 'close-before-read' }, { failed: BROKEN }, 0],
  [{ kind: 'stall', stallMs: 20 }, { failed: BROKEN }, 0],
  [{ kind: 'http-500' }, { status: 500 }, 0],
  [{ kind: 'http-503' }, { status: 503 }, 0],
  [{ kind: 'reset-after-read' }, { failed: BROKEN }, 1],
  [{ kind: 'close-after-read' }, { failed: BROKEN }, 1],
  [{ kind: 'acted-http-503' }, { status: 503 }, 1],
  [{ kind: 'acted-http-500' }, { status: 500 }, 1],
  [{ kind: 'acted-stall', stallMs: 20 }, { failed: BROKEN }, 1],
  [{ kind: 'half-body' }, { failed: BROKEN }, 1],
  [{ kind: 'malformed-json' }, { failed: BROKEN }, 1],
  [{ kind: 'garbage' }, { failed: BROKEN }, 1],
  [{ kind: 'empty-json' }, { text: '{}' }, 1],
];

describe.for(points)('the fault %j', ([rule, expected, committed]) => {
  test(`occurs ${committed === 0 ? 'before' : 'after'} every mutation takes effect`, async () => {
    const x = await xSandbox({ tier: 'enterprise' });
    for (const mutation of mutations) {
      const outcome = await strike(x, mutation, rule);
      expect([mutation.route, outcome.seen]).toEqual([
        mutation.route,
        expect.objectContaining(expected),
      ]);
      expect([mutation.route, outcome.committed]).toEqual([mutation.route, committed]);
      const faulted = x.log().findLast(({ fault }) => fault !== null);
      expect(faulted?.fault).toBe(rule.kind);
      if (committed === 1) expect(x.commits().at(-1)?.request).toBe(faulted?.id);
    }
  });
});

describe('a failed connection', () => {
  test('leaves no request in the log', async () => {
    const x = await xSandbox();
    const [create] = mutations;
    if (!create) throw new Error('there is none');
    const outcome = await strike(x, create, { kind: 'reset-on-connect' });
    expect(outcome).toEqual({ seen: { failed: BROKEN }, committed: 0 });
    await x.setReachable(false);
    await expect(posted(x, { text: 'Nobody home' })).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
    await x.setReachable(true);
    expect(x.commits()).toEqual([]);
    await posted(x, { text: 'Nobody home' });
  });
});

test('a mutation takes effect although its client disconnects, if it was read', async () => {
  const x = await xSandbox({
    latency: { fixedMs: 0, routes: { 'create-post': { fixedMs: 60_000 } } },
  });
  const client = new AbortController();
  const leaving = fetch(`${x.url}/2/tweets`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${x.credentials.accessToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ text: 'Left too early' }),
    signal: client.signal,
  });
  await expect.poll(() => x.commits()).toHaveLength(1);
  client.abort();
  await expect(leaving).rejects.toThrow();
  expect(x.commits()).toMatchObject([{ kind: 'post.created', text: 'Left too early' }]);
});

const rejections: readonly (readonly [kind: FaultKind, status: number, body: object])[] = [
  ['x-402-credits', 402, { title: 'CreditsDepleted', type: expect.stringMatching(/\/credits$/) }],
  ['x-403-duplicate', 403, { detail: expect.stringContaining('duplicate content') }],
  ['x-403-reply-not-allowed', 403, { detail: expect.stringContaining('engaged by the author') }],
  ['x-403-not-permitted', 403, { detail: 'You are not permitted to perform this action.' }],
  ['x-403-not-authorized', 403, { type: expect.stringMatching(/\/not-authorized-for-resource$/) }],
  ['x-403-spend-cap', 403, { title: 'SpendCapReached' }],
  ['x-403-client-not-enrolled', 403, { reason: 'client-not-enrolled' }],
  ['x-403-user-not-enrolled', 403, { reason: 'user-not-enrolled' }],
  ['x-403-official-client', 403, { reason: 'official-client-forbidden' }],
  [
    'x-403-unsupported-authentication',
    403,
    { type: expect.stringMatching(/\/unsupported-authentication$/) },
  ],
  ['x-403-oauth1-permissions', 403, { type: expect.stringMatching(/\/oauth1-permissions$/) }],
  ['x-403-suspended', 403, { errors: [{ code: 64, message: expect.any(String) }] }],
  ['x-403-locked', 403, { errors: [{ code: 326, message: expect.any(String) }] }],
  ['x-403-restricted', 403, { errors: [{ code: 261, message: expect.any(String) }] }],
  ['x-429-window', 429, { title: 'Too Many Requests', type: 'about:blank' }],
  ['x-429-legacy', 429, { errors: [{ code: 88, message: 'Rate limit exceeded' }] }],
  ['x-429-day', 429, { title: 'Too Many Requests' }],
  [
    'x-429-usage-cap',
    429,
    {
      title: 'UsageCapExceeded',
      period: 'Monthly',
      type: expect.stringMatching(/\/usage-capped$/),
    },
  ],
];

describe('an injected rejection', () => {
  test.for(rejections)(
    '%s has its own body, and nothing is committed',
    async ([kind, status, body]) => {
      const x = await xSandbox({ tier: 'enterprise' });
      for (const mutation of mutations.filter(({ route }) => /^create-post$|^like$/.test(route))) {
        const { seen, committed } = await strike(x, mutation, { kind });
        expect([mutation.route, committed]).toEqual([mutation.route, 0]);
        expect(seen).toMatchObject({ status });
        expect(JSON.parse('text' in seen ? seen.text : '')).toMatchObject(body);
      }
      expect(x.counts().byFault[kind]).toBe(2);
    },
  );

  test('of a rate limit reports the reset, that of a cap does not', async () => {
    const x = await xSandbox();
    const refused = async (kind: FaultKind) => {
      x.setFaults([{ kind, retryAfter: { seconds: 7 } }]);
      const { headers } = await get(x, '/2/users/me');
      return headers;
    };
    const at = Math.ceil(x.clock.now() / 1000) + 7;
    const window = await refused('x-429-window');
    expect(window).toMatchObject({ 'x-rate-limit-limit': '75', 'x-rate-limit-remaining': '0' });
    expect(Math.abs(Number(window['x-rate-limit-reset']) - at)).toBeLessThanOrEqual(2);
    const day = await refused('x-429-day');
    expect(day).toMatchObject({ 'x-user-limit-24hour-remaining': '0' });
    expect(Number(day['x-rate-limit-remaining'])).toBeGreaterThan(0);
    expect(Number((await refused('x-429-usage-cap'))['x-rate-limit-remaining'])).toBeGreaterThan(0);
  });

  test('requires authentication', async () => {
    const x = await xSandbox({ faults: [{ kind: 'x-403-duplicate' }] });
    expect((await get(x, '/2/users/me', 'made-up')).status).toBe(401);
    expect(x.counts().byFault).toEqual({});
  });

  test('follows the rate of its rule', async () => {
    const x = await xSandbox({ faults: [{ kind: ['x-429-window', 'http-503'], rate: 0.5 }] });
    const statuses: number[] = [];
    for (let turn = 0; turn < 40; turn += 1) statuses.push((await get(x, '/2/users/me')).status);
    expect(new Set(statuses)).toEqual(new Set([200, 429, 503]));
  });
});

describe('lagging reads', () => {
  const shows = async (x: XSandbox, id: string) => {
    const { me } = x.landmarks;
    const lists = [
      `/2/tweets?ids=${id}`,
      `/2/users/${me.id}/tweets`,
      `/2/users/${me.id}/timelines/reverse_chronological`,
      `/2/tweets/search/recent?query=from:${me.username}`,
    ];
    const seen = await Promise.all(
      lists.map(async (path) =>
        (await get<Thing[]>(x, path)).json.data?.some((post) => post.id === id),
      ),
    );
    return seen.map((one) => one === true);
  };

  test('show a post after the lag', async () => {
    const x = await xSandbox();
    x.setLag(60_000);
    const { id } = await posted(x, { text: 'Late' });
    expect(await shows(x, id)).toEqual([false, false, false, false]);
    x.clock.advance(30_000);
    expect(await shows(x, id)).toEqual([false, false, false, false]);
    x.clock.advance(30_000);
    expect(await shows(x, id)).toEqual([true, true, true, true]);
  });

  test('show it at once when the lag is removed', async () => {
    const x = await xSandbox({ lagMs: 60_000 });
    const { id } = await posted(x, { text: 'Late' });
    expect((await shows(x, id))[0]).toBe(false);
    x.setLag(0);
    expect((await shows(x, id))[0]).toBe(true);
    x.setLag(60_000);
    expect((await shows(x, id))[0]).toBe(false);
  });

  test('do not hide records from before the lag', async () => {
    const x = await xSandbox();
    const { id } = await posted(x, { text: 'Early' });
    x.setLag(60_000);
    expect((await shows(x, id))[0]).toBe(true);
    expect((await shows(x, x.landmarks.popularPostId))[0]).toBe(true);
  });

  test('do not affect writes', async () => {
    const x = await xSandbox({ tier: 'enterprise', lagMs: 60_000 });
    const { id } = await posted(x, { text: 'Answered at once' });
    await posted(x, { text: 'Here', reply: { in_reply_to_tweet_id: id } });
    expect((await send(x, '/2/tweets', { text: 'Answered at once' })).status).toBe(403);
  });

  test('apply to likes and deletions too', async () => {
    const x = await xSandbox({ tier: 'enterprise' });
    const { me, popularPostId } = x.landmarks;
    x.setLag(60_000);
    await send(x, `/2/users/${me.id}/likes`, { tweet_id: popularPostId });
    const newest = async () =>
      (await get<Thing[]>(x, `/2/tweets/${popularPostId}/liking_users?max_results=1`)).json
        .data?.[0]?.id;
    expect(await newest()).not.toBe(me.id);
    x.clock.advance(60_000);
    expect(await newest()).toBe(me.id);
  });
});

describe('pages', () => {
  test('can loop, or be empty before the end', async () => {
    const x = await xSandbox();
    const path = `/2/users/${x.landmarks.me.id}/tweets?max_results=5`;
    const page = async (token?: string) =>
      (await get<Thing[]>(x, token === undefined ? path : `${path}&pagination_token=${token}`))
        .json;
    const first = await page();
    const second = await page(first.meta?.next_token);
    x.setFaults([{ kind: 'loop-next', routes: ['user-posts'] }]);
    const looping = await page(first.meta?.next_token);
    expect(looping.data).toEqual(second.data);
    expect((await page(looping.meta?.next_token)).data).toEqual(second.data);
    x.setFaults([{ kind: 'empty-page', times: 1 }]);
    const empty = await page(first.meta?.next_token);
    expect([empty.data, empty.meta?.result_count]).toEqual([undefined, 0]);
    expect((await page(empty.meta?.next_token)).data).toEqual(second.data);
  });
});
