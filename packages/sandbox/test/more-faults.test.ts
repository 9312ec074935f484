import { describe, expect, test } from 'vitest';
import type { FaultRule } from '@toolkeel/sandbox';
import { ask } from './support/client.js';
import { talk, type Say } from './support/raw.js';
import { closeSandboxesAfterEach, tiny } from './support/sandboxes.js';

closeSandboxesAfterEach();

const post: Say = { method: 'POST', path: '/search', body: '{"limit":1}' };

const struck = async (rule: FaultRule, say: Say = post) => {
  const upstream = await tiny({ faults: [rule] });
  const heard = await talk(upstream.url, say);
  await expect.poll(() => upstream.log()[0]?.outcome).not.toBe('pending');
  return { heard, entry: upstream.log()[0] };
};

describe('a connection that is closed politely', () => {
  test('before reading does not wait for the body', async () => {
    const { heard, entry } = await struck(
      { kind: 'close-before-read' },
      { ...post, withhold: true },
    );
    expect(heard).toMatchObject({ end: 'fin', text: '' });
    expect(entry).toMatchObject({ bytesIn: 0, status: null, outcome: 'broken' });
  });

  test('after reading has read it', async () => {
    const { heard, entry } = await struck({ kind: 'close-after-read' });
    expect(heard).toMatchObject({ end: 'fin', text: '' });
    expect(entry).toMatchObject({ bytesIn: 11, status: null, outcome: 'broken' });
  });
});

describe('an answer after the upstream has acted', () => {
  test('can have another status', async () => {
    const { heard, entry } = await struck({
      kind: 'acted-http-503',
      retryAfter: { seconds: 3 },
    });
    expect(heard).toMatchObject({ status: 503, headers: { 'retry-after': '3' } });
    expect(entry).toMatchObject({ fault: 'acted-http-503', status: 503, outcome: 'answered' });
  });

  test('can stay away', async () => {
    const { heard } = await struck({ kind: 'acted-stall', stallMs: 60 });
    expect(heard).toMatchObject({ end: 'reset', text: '' });
    expect(heard.tookMs).toBeGreaterThan(55);
  });

  test('can be garbage, complete and with the right head', async () => {
    const { heard } = await struck({ kind: 'garbage' });
    expect(heard).toMatchObject({ status: 200, end: 'fin' });
    expect(heard.headers['content-type']).toContain('json');
    expect(() => JSON.parse(heard.body) as unknown).toThrow(SyntaxError);
  });

  test('can be JSON that says nothing', async () => {
    const { heard } = await struck({ kind: 'empty-json' });
    expect(heard).toMatchObject({ status: 200, end: 'fin', body: '{}' });
  });
});

test('a fault that only another upstream has is refused', async () => {
  const rules: FaultRule[] = [{ kind: ['http-500', 'x-403-duplicate'] }];
  const upstream = await tiny();
  expect(() => upstream.setFaults(rules)).toThrow(
    /"x-403-duplicate" is not a fault of this upstream, which has loop-next/,
  );
  await expect(tiny({ faults: rules })).rejects.toThrow(/not a fault of this upstream/);
});

describe('an upstream that cannot be reached', () => {
  test('refuses connections, and comes back where it was', async () => {
    const upstream = await tiny();
    await ask(upstream.url);
    await upstream.setReachable(false);
    await upstream.setReachable(false);
    await expect(ask(upstream.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await upstream.setReachable(true);
    expect((await ask(upstream.url)).status).toBe(200);
    expect(upstream.counts().requests).toBe(2);
  });

  test('can still be controlled', async () => {
    const upstream = await tiny();
    const reachable = (value: unknown) =>
      ask(`${upstream.control.url}/reachable`, { method: 'PUT', body: { reachable: value } });
    expect((await reachable(false)).status).toBe(204);
    await expect(ask(upstream.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect((await reachable(true)).status).toBe(204);
    expect((await ask(upstream.url)).status).toBe(200);
    expect((await reachable('perhaps')).status).toBe(400);
  });

  test('can be closed', async () => {
    const upstream = await tiny();
    await upstream.setReachable(false);
    await upstream.close();
    await expect(ask(upstream.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
