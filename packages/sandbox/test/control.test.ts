import { describe, expect, test } from 'vitest';
import type { Counts, LogEntry } from '@toolkeel/sandbox';
import { sendRequest } from './support/client.js';
import { closeSandboxesAfterEach, tiny } from './support/sandboxes.js';

closeSandboxesAfterEach();

describe('the control endpoint', () => {
  test('has a separate port and an unguessable path', async () => {
    const upstream = await tiny();
    const { origin, pathname } = new URL(upstream.control.url);
    expect(origin).not.toBe(new URL(upstream.url).origin);
    expect((await sendRequest(new URL(pathname, upstream.url).href)).status).toBe(404);
    expect((await sendRequest(origin)).status).toBe(404);
    expect(
      (await sendRequest(`${origin}/__control/guess/faults`, { method: 'PUT', body: [] })).status,
    ).toBe(404);
    expect(pathname).toMatch(/^\/__control\/[\w-]{16}$/);
  });

  test('sets and returns faults and latency', async () => {
    const upstream = await tiny();
    const { url } = upstream.control;
    const faults = [{ kind: 'http-503', rate: 1, routes: ['landing'], retryAfter: { seconds: 1 } }];
    expect((await sendRequest(`${url}/faults`, { method: 'PUT', body: faults })).status).toBe(204);
    expect(
      (await sendRequest(`${url}/latency`, { method: 'PUT', body: { p95Ms: 1 } })).status,
    ).toBe(204);
    expect((await sendRequest(upstream.url)).status).toBe(503);
    const { json } = await sendRequest(url);
    expect(json).toMatchObject({ faults, latency: { p95Ms: 1 }, counts: { requests: 1 } });
    expect(upstream.faults()).toEqual(faults);
  });

  test.for([
    ['/faults', [{ kind: 'http-200' }], 'is not a fault'],
    ['/faults', [{ kind: 'stall', rate: 2 }], 'rate'],
    ['/faults', [{ kind: 'stall', often: true }], 'often'],
    ['/faults', [{ kind: 'stall', routes: ['nowhere'] }], '"nowhere" is not a route'],
    ['/faults', [{ kind: 'redirect' }], 'needs a location'],
    ['/faults', [{ kind: ['stall', 'reset-on-connect'] }], 'a rule of its own'],
    ['/faults', {}, 'the list of faults'],
    ['/latency', { p95Ms: -1 }, 'the latency'],
    ['/latency', { fixedMs: 1, routes: { nowhere: { fixedMs: 2 } } }, '"nowhere" is not a route'],
  ] as const)('rejects %s %j', async ([path, body, why]) => {
    const { control, faults } = await tiny();
    const { status, json } = await sendRequest<{ error: string }>(control.url + path, {
      method: 'PUT',
      body,
    });
    expect([status, json.error]).toEqual([400, expect.stringContaining(why)]);
    expect(faults()).toEqual([]);
  });

  test('reads and clears the log, and restarts the draws', async () => {
    const upstream = await tiny({ faults: [{ kind: 'http-500', rate: 0.5 }] });
    const { url } = upstream.control;
    const outcomes = async (): Promise<unknown[]> => {
      for (let turn = 0; turn < 12; turn += 1) await sendRequest(upstream.url);
      const { json } = await sendRequest<{ entries: LogEntry[] }>(`${url}/log?route=landing`);
      return json.entries.map(({ status }) => status);
    };
    const first = await outcomes();
    expect(new Set(first)).toEqual(new Set([200, 500]));
    const { json } = await sendRequest<{ entries: LogEntry[] }>(`${url}/log?after=10&limit=1`);
    expect(json.entries.map(({ id }) => id)).toEqual([11]);
    expect((await sendRequest<Counts>(`${url}/counts`)).json).toMatchObject({
      requests: 12,
      byRoute: { landing: 12 },
    });
    expect((await sendRequest(`${url}/restart`, { method: 'POST', body: {} })).status).toBe(204);
    expect(await outcomes()).toEqual(first);
    expect(
      (await sendRequest(`${url}/restart`, { method: 'POST', body: { seed: 99 } })).status,
    ).toBe(204);
    expect(await outcomes()).not.toEqual(first);
    expect((await sendRequest(`${url}/log`, { method: 'DELETE' })).status).toBe(204);
    expect(upstream.log()).toEqual([]);
    expect((await sendRequest(`${url}/log?after=x`)).status).toBe(400);
  });
});

describe('the log', () => {
  test('identifies equal requests by their fingerprint', async () => {
    const { url, log } = await tiny();
    await sendRequest(`${url}/search?limit=1&ids=a`);
    await sendRequest(`${url}/search?ids=a&limit=1`);
    await sendRequest(`${url}/search?ids=b&limit=1`);
    await sendRequest(`${url}/search`, { method: 'POST', body: { limit: 1 } });
    await sendRequest(`${url}/search`, { method: 'POST', body: { limit: 2 } });
    const prints = log().map(({ fingerprint }) => fingerprint);
    expect(prints[0]).toBe(prints[1]);
    expect(new Set(prints).size).toBe(4);
  });

  test('is bounded, and keeps counting', async () => {
    const { url, log, counts } = await tiny({ logCapacity: 10 });
    for (let turn = 0; turn < 25; turn += 1) await sendRequest(url);
    expect(log()).toHaveLength(10);
    expect(log().at(-1)?.id).toBe(25);
    expect(counts()).toMatchObject({ requests: 25, forgotten: 15, byStatus: { 200: 25 } });
  });
});

test('ports can be set, and a port in use is an error that leaves nothing open', async () => {
  const first = await tiny();
  const { port } = new URL(first.url);
  await expect(tiny({ port: Number(port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  const { port: control } = new URL(first.control.url);
  await expect(tiny({ controlPort: Number(control) })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await first.close();
  const second = await tiny({ port: Number(port) });
  expect(new URL(second.url).port).toBe(port);
});
