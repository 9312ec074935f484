import { describe, expect, test } from 'vitest';
import type { Commit, IssuedTokens, XSandbox } from '@toolkeel/sandbox';
import { sendRequest } from './support/client.js';
import { closeXSandboxesAfterEach, get, posted, xSandbox } from './support/x.js';

closeXSandboxesAfterEach();

const put = (x: XSandbox, path: string, body: unknown) =>
  sendRequest<{ error: string }>(x.control.url + path, { method: 'PUT', body });

describe('the control endpoint of X', () => {
  test('returns the credentials and the named records', async () => {
    const x = await xSandbox({ credits: 7 });
    const { json } = await sendRequest(x.control.url);
    expect(json).toMatchObject({
      origins: { api: x.url },
      credentials: x.credentials,
      landmarks: x.landmarks,
      tier: 'self_serve',
      lagMs: 0,
      credits: 7,
      spent: 0,
      now: expect.any(Number),
    });
  });

  test('returns the commits', async () => {
    const x = await xSandbox();
    await posted(x, { text: 'one' });
    await posted(x, { text: 'two' });
    const commits = async (query: string) =>
      (await sendRequest<{ commits: Commit[] }>(`${x.control.url}/commits${query}`)).json.commits;
    expect(await commits('')).toEqual(x.commits());
    expect(await commits('?after=1&kind=post.created')).toMatchObject([{ seq: 2, text: 'two' }]);
    expect(await commits('?kind=post.deleted')).toEqual([]);
    expect((await sendRequest(`${x.control.url}/commits?after=x`)).status).toBe(400);
    expect((await sendRequest(`${x.control.url}/commits?since=1`)).status).toBe(400);
  });

  test('sets the clock, the lag, the tier and the credits', async () => {
    const x = await xSandbox();
    const before = x.clock.now();
    for (const [path, body] of [
      ['/clock', { advanceMs: 5000 }],
      ['/lag', { lagMs: 300 }],
      ['/tier', { tier: 'enterprise' }],
      ['/credits', { credits: 0 }],
    ] as const)
      expect((await put(x, path, body)).status).toBe(204);
    expect(x.clock.now()).toBeGreaterThanOrEqual(before + 5000);
    expect([x.lag(), x.tier(), x.balance().credits]).toEqual([300, 'enterprise', 0]);
    expect((await get(x, '/2/users/me')).status).toBe(402);
  });

  test('advances the clock that dates every response', async () => {
    const x = await xSandbox({ startAt: Date.now() - 86_400_000 });
    for (const path of ['/2/users/me', '/2/nothing']) {
      x.clock.advance(3_600_000);
      const { headers } = await get(x, path);
      expect(Math.abs(Date.parse(String(headers['date'])) - x.clock.now())).toBeLessThan(5_000);
    }
  });

  test('issues tokens', async () => {
    const x = await xSandbox();
    const { json } = await sendRequest<IssuedTokens>(`${x.control.url}/tokens`, {
      method: 'PUT',
      body: { scopes: ['tweet.read', 'users.read'], lifetimeMs: 1000 },
    });
    expect(json).not.toHaveProperty('refreshToken');
    expect((await get(x, '/2/users/me', json.accessToken)).status).toBe(200);
    x.clock.advance(1000);
    expect((await get(x, '/2/users/me', json.accessToken)).status).toBe(401);
  });

  test.for([
    ['/clock', { advanceMs: -1 }],
    ['/lag', { lagMs: 'long' }],
    ['/tier', { tier: 'free' }],
    ['/credits', {}],
    ['/tokens', { scopes: ['everything'] }],
    ['/faults', [{ kind: 'too-large-413' }]],
    ['/faults', [{ kind: 'http-500', routes: ['tweets'] }]],
  ] as const)('rejects %s %j', async ([path, body]) => {
    const x = await xSandbox();
    const { status, json } = await put(x, path, body);
    expect([status, json.error]).toEqual([400, expect.any(String)]);
  });
});

test('an invalid lag is rejected', async () => {
  const x = await xSandbox();
  expect(() => x.setLag(-1)).toThrow(/the lag must be/);
  expect(() => x.clock.advance(NaN)).toThrow(/the time to advance must be/);
  await expect(xSandbox({ lagMs: Infinity })).rejects.toThrow(/lagMs must be/);
});

test('users and posts are determined by the seed and the day', async () => {
  const startAt = Date.UTC(2026, 7, 1, 12);
  const digests: string[] = [];
  for (const seed of [1, 1, 2]) {
    const x = await xSandbox({ seed, startAt });
    digests.push(x.digest());
    expect(Math.abs(x.clock.now() - startAt)).toBeLessThan(60_000);
  }
  expect(digests[0]).toBe(digests[1]);
  expect(digests[2]).not.toBe(digests[0]);
});

test('sandboxes do not share state', async () => {
  const [one, other] = [await xSandbox(), await xSandbox()];
  const { id } = await posted(one, { text: 'Only here' });
  expect((await get(other, `/2/tweets/${id}`)).json.data).toBeUndefined();
  expect(other.commits()).toEqual([]);
  expect(one.digest()).not.toBe(other.digest());
});
