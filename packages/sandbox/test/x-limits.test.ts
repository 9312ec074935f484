import { describe, expect, test } from 'vitest';
import { askX, closeXSandboxesAfterEach, get, posted, send, xSandbox } from './support/x.js';

closeXSandboxesAfterEach();

const limitsIn = (headers: Readonly<Record<string, unknown>>, family = 'x-rate-limit') =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers[`${family}-${name}`]));

describe('fifteen-minute windows', () => {
  test('count requests, and are reported on every response', async () => {
    const x = await xSandbox();
    const began = x.clock.now();
    const first = await get(x, '/2/users/me');
    const second = await get(x, '/2/users/me?user.fields=nonsense');
    expect(limitsIn(first.headers).slice(0, 2)).toEqual([75, 74]);
    expect([second.status, ...limitsIn(second.headers).slice(0, 2)]).toEqual([400, 75, 73]);
    const [, , reset = 0] = limitsIn(first.headers);
    expect(limitsIn(second.headers)[2]).toBe(reset);
    expect(reset * 1000).toBeGreaterThanOrEqual(began + 15 * 60_000);
    expect(reset * 1000).toBeLessThan(began + 15 * 60_000 + 5000);
  });

  test('reject requests while they are full', async () => {
    const x = await xSandbox({ limits: { me: { user: 2 } } });
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) statuses.push((await get(x, '/2/users/me')).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    const refused = await get(x, '/2/users/me');
    expect(refused.json).toEqual({
      title: 'Too Many Requests',
      detail: 'Too Many Requests',
      type: 'about:blank',
      status: 429,
    });
    expect(limitsIn(refused.headers).slice(0, 2)).toEqual([2, 0]);
    x.clock.advance(15 * 60_000);
    expect((await get(x, '/2/users/me')).status).toBe(200);
  });

  test('are separate for each credential and route', async () => {
    const x = await xSandbox({ limits: { user: { app: 1, user: 1 } } });
    const { friendId } = x.landmarks;
    const path = `/2/users/${friendId}`;
    const { accessToken: other } = x.issueTokens({ userId: friendId });
    const { bearerToken: app } = x.credentials;
    for (const token of [x.credentials.accessToken, other, app]) {
      expect((await get(x, path, token)).status).toBe(200);
      expect((await get(x, path, token)).status).toBe(429);
    }
    // Another token of the same user is the same credential.
    expect((await get(x, path, x.issueTokens().accessToken)).status).toBe(429);
    expect((await get(x, `/2/users?ids=${friendId}`)).status).toBe(200);
  });

  test('differ for apps and users', async () => {
    const x = await xSandbox();
    const path = `/2/users/${x.landmarks.me.id}/tweets`;
    expect(limitsIn((await get(x, path)).headers)[0]).toBe(900);
    expect(limitsIn((await get(x, path, x.credentials.bearerToken)).headers)[0]).toBe(10_000);
  });

  test('are reported by acted- faults', async () => {
    const x = await xSandbox({ faults: [{ kind: 'acted-http-503' }] });
    const { status, headers } = await send(x, '/2/tweets', { text: 'Counted' });
    expect([status, ...limitsIn(headers).slice(0, 2)]).toEqual([503, 100, 99]);
    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
  });

  test('are not affected by faults before the upstream', async () => {
    const x = await xSandbox({ faults: [{ kind: 'http-503', times: 3 }] });
    for (let turn = 0; turn < 3; turn += 1) await get(x, '/2/users/me');
    expect(limitsIn((await get(x, '/2/users/me')).headers)[1]).toBe(74);
  });
});

describe('daily windows', () => {
  test('are reported beside the short ones: the app’s for posts, the user’s for likes', async () => {
    const x = await xSandbox({ tier: 'enterprise' });
    const post = await send(x, '/2/tweets', { text: 'Counted' });
    expect(limitsIn(post.headers).slice(0, 2)).toEqual([100, 99]);
    expect(limitsIn(post.headers, 'x-app-limit-24hour').slice(0, 2)).toEqual([10_000, 9999]);
    const like = await send(x, `/2/users/${x.landmarks.me.id}/likes`, {
      tweet_id: x.landmarks.mentionId,
    });
    expect(limitsIn(like.headers, 'x-user-limit-24hour').slice(0, 2)).toEqual([1000, 999]);
  });

  test('reject requests while the short ones have room', async () => {
    const x = await xSandbox({ limits: { 'create-post': { user: 100, appDay: 10, userDay: 1 } } });
    await posted(x, { text: 'first' });
    const { status, headers } = await send(x, '/2/tweets', { text: 'second' });
    expect(status).toBe(429);
    expect(limitsIn(headers)[1]).toBe(99);
    expect(limitsIn(headers, 'x-user-limit-24hour').slice(0, 2)).toEqual([1, 0]);
    expect(limitsIn(headers, 'x-app-limit-24hour').slice(0, 2)).toEqual([10, 9]);
    x.clock.advance(24 * 60 * 60_000);
    const { accessToken: token } = x.issueTokens();
    const later = await askX(x, '/2/tweets', { method: 'POST', body: { text: 'second' }, token });
    expect(later.status).toBe(201);
  });
});

describe('the developer’s account', () => {
  test('is charged', async () => {
    const x = await xSandbox({ credits: 1 });
    await posted(x, { text: 'plain' });
    expect(x.balance().spent).toBeCloseTo(0.015);
    await posted(x, { text: 'with https://example.com' });
    expect(x.balance().spent).toBeCloseTo(0.215);
    await get(x, `/2/tweets/${x.landmarks.unaskedPostId}`);
    await get(x, `/2/tweets/${x.landmarks.popularPostId}`);
    await get(x, '/2/users/me');
    expect(x.balance().spent).toBeCloseTo(0.215 + 0.005 + 0.001 + 0.01);
    await send(x, '/2/tweets', { text: 'plain' });
    expect(x.balance().credits).toBeCloseTo(1 - 0.231);
  });

  test('runs out of credits', async () => {
    const x = await xSandbox({ credits: 0.02 });
    await posted(x, { text: 'one' });
    await posted(x, { text: 'two' });
    const { status, json } = await send(x, '/2/tweets', { text: 'three' });
    expect(status).toBe(402);
    expect(json).toMatchObject({
      title: 'CreditsDepleted',
      detail: expect.stringMatching(
        /^Your enrolled account \[\d+\] does not have any credits to fulfill this request\.$/,
      ),
      type: 'https://api.twitter.com/2/problems/credits',
    });
    expect(x.commits()).toHaveLength(2);
    x.setCredits(5);
    await posted(x, { text: 'three' });
  });
});
