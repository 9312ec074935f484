import { join } from 'node:path';
import { openStore, type Operation } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import { overHttp } from '../support/client.js';
import { useShop } from '../support/shop.js';

const { dir, shop, configure, serve, up } = useShop();
const order = { item: 'tea' };

/** What a process has left behind. */
const onlyOperation = async (): Promise<Operation> => {
  const store = await openStore('sqlite:journal.db', { dataDir: join(dir(), 'data') });
  const operations = await store.list({});
  await store.close();
  expect(operations).toHaveLength(1);
  return operations[0] as Operation;
};

const gone = async (pid: number | null): Promise<void> => {
  const isThere = (): boolean => {
    try {
      return process.kill(pid ?? 0, 0);
    } catch {
      return false;
    }
  };
  await expect.poll(isThere, { timeout: 30_000 }).toBe(false);
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

describe('that a result was delivered is recorded', () => {
  it('when the input of a server on stdio ends', async () => {
    configure({ profile: 'api' });
    const server = await serve();
    expect(await server.call('shop_order', order)).toMatchObject({ data: { id: 'e1' } });
    await server.close();
    await gone(server.pid);
    const { settledAt = Infinity, deliveredAt } = await onlyOperation();
    expect(deliveredAt).toBeGreaterThanOrEqual(settledAt);
  });

  it('at SIGTERM, of an answer that is given while a server on stdio stops', async () => {
    configure({ profile: 'api' });
    const server = await serve();
    shop().next('hang');
    const running = server.call('shop_order', order);
    await expect.poll(() => shop().hanging(), { timeout: 30_000 }).toBe(1);
    process.kill(server.pid ?? 0, 'SIGTERM');
    shop().release();
    expect(await running).toMatchObject({ data: { id: 'e1' } });
    await gone(server.pid);
    expect(await onlyOperation()).toHaveProperty('deliveredAt');
  });

  it('at SIGTERM, of an answer over HTTP', async () => {
    configure({ profile: 'api' });
    const server = await up();
    const client = await overHttp(`${server.url}/mcp`);
    expect(await client.call('shop_order', order)).toMatchObject({ data: { id: 'e1' } });
    server.kill('SIGTERM');
    await server.ended;
    await client.close();
    expect(await onlyOperation()).toHaveProperty('deliveredAt');
  });

  it('when get_operation shows the result to a client', async () => {
    configure({ profile: 'api' });
    const server = await up();
    await leaveBeforeTheAnswer(server.url);
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

it('a result whose client left before the answer was not delivered, and answers a repeat', async () => {
  configure({ profile: 'api' });
  const server = await up();
  await leaveBeforeTheAnswer(server.url);
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
  await gone(next.pid);
  expect(shop().effects).toEqual(['order tea']);
  expect(await onlyOperation()).toHaveProperty('deliveredAt');
});

/** Asks for an order, closes the connection while it is sent, and waits until it has settled. */
async function leaveBeforeTheAnswer(url: string): Promise<void> {
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
