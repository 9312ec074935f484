import { join } from 'node:path';
import { openStore, type Operation } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import { overHttp } from '../support/client.js';
import { useShop } from '../support/shop.js';

const { dir, shop, configure, serve, up } = useShop();
const order = { item: 'tea' };

/** The single operation in the journal. */
const onlyOperation = async (): Promise<Operation> => {
  const store = await openStore('sqlite:journal.db', { dataDir: join(dir(), 'data') });
  const operations = await store.list({});
  await store.close();
  expect(operations).toHaveLength(1);
  return operations[0] as Operation;
};

const awaitExit = async (pid: number | null): Promise<void> => {
  const isRunning = (): boolean => {
    try {
      return process.kill(pid ?? 0, 0);
    } catch {
      return false;
    }
  };
  await expect.poll(isRunning, { timeout: 30_000 }).toBe(false);
};

const callOver = (url: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}/mcp`, {
    method: 'POST',
    ...(signal && { signal }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'shop_order', arguments: order },
    }),
  });

describe('the delivery of a result is recorded', () => {
  it('when stdin of a server ends', async () => {
    configure({ profile: 'api' });
    const server = await serve();
    expect(await server.call('shop_order', order)).toMatchObject({ data: { id: 'e1' } });
    await server.close();
    await awaitExit(server.pid);
    const { settledAt = Infinity, deliveredAt } = await onlyOperation();
    expect(deliveredAt).toBeGreaterThanOrEqual(settledAt);
  });

  it('at SIGTERM, for a call that completes while a server on stdio stops', async () => {
    configure({ profile: 'api' });
    const server = await serve();
    shop().next('hang');
    const running = server.call('shop_order', order);
    await expect.poll(() => shop().hanging(), { timeout: 30_000 }).toBe(1);
    process.kill(server.pid ?? 0, 'SIGTERM');
    shop().release();
    expect(await running).toMatchObject({ data: { id: 'e1' } });
    await awaitExit(server.pid);
    expect(await onlyOperation()).toHaveProperty('deliveredAt');
  });

  it('at SIGTERM, for a call over HTTP', async () => {
    configure({ profile: 'api' });
    const server = await up();
    const client = await overHttp(`${server.url}/mcp`);
    expect(await client.call('shop_order', order)).toMatchObject({ data: { id: 'e1' } });
    server.kill('SIGTERM');
    await server.ended;
    await client.close();
    expect(await onlyOperation()).toHaveProperty('deliveredAt');
  });

  it('when get_operation returns the result', async () => {
    configure({ profile: 'api' });
    const server = await up();
    await disconnectBeforeResult(server.url);
    const { id, deliveredAt } = await onlyOperation();
    expect(deliveredAt).toBeUndefined();
    const client = await overHttp(`${server.url}/mcp`);
    expect(await client.call('get_operation', { operation_id: id })).toMatchObject({
      data: { outcome: 'executed' },
    });
    server.kill('SIGTERM');
    await server.ended;
    await client.close();
    expect(await onlyOperation()).toHaveProperty('deliveredAt');
  });
});

it('a result whose client disconnected is not delivered, and is replayed later', async () => {
  configure({ profile: 'api' });
  const server = await up();
  await disconnectBeforeResult(server.url);
  server.kill('SIGTERM');
  await server.ended;
  const { state, deliveredAt } = await onlyOperation();
  expect({ state, deliveredAt }).toEqual({ state: 'succeeded', deliveredAt: undefined });
  const next = await serve();
  expect(await next.call('shop_order', order)).toMatchObject({
    data: { id: 'e1' },
    meta: { idempotency: { replayed: true } },
  });
  await next.close();
  await awaitExit(next.pid);
  expect(shop().effects).toEqual(['order tea']);
  expect(await onlyOperation()).toHaveProperty('deliveredAt');
});

/** Sends an order, disconnects while it is in flight, and waits until it is settled. */
async function disconnectBeforeResult(url: string): Promise<void> {
  shop().next('hang');
  const leaving = new AbortController();
  const answer = callOver(url, leaving.signal);
  answer.catch(() => {});
  await expect.poll(() => shop().hanging(), { timeout: 30_000 }).toBe(1);
  leaving.abort();
  await expect(answer.then((response) => response.text())).rejects.toThrow();
  shop().release();
  await expect
    .poll(async () => (await onlyOperation()).state, { timeout: 30_000 })
    .toBe('succeeded');
}
