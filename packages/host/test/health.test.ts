import { createHost, Secret, type HttpHandle } from '@toolkeel/host';
import { defineTool, type Pack } from '@toolkeel/contract';
import { afterEach, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { overHttp } from './clients.js';

const wake = defineTool({
  name: 'wake',
  title: 'Wake',
  description: 'Does nothing.',
  category: 'read',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  input: z.object({}),
  output: z.object({}),
  errors: [],
  handler: () => ({}),
});

const authorization = 'Bearer a-long-enough-token';
const token = new Secret('http.token', 'a-long-enough-token');
let http: HttpHandle;

/** A server whose pack is created, and whose upstream is down. */
const start = async (hasToken: boolean) => {
  const health = vi.fn(() => Promise.resolve({ ok: false, detail: 'upstream is down' }));
  const pack: Pack = {
    name: 'p',
    configSchema: z.strictObject({}),
    describe: () => [wake],
    create: () => Promise.resolve({ tools: [wake], health, close: () => Promise.resolve() }),
  };
  const host = createHost({ packs: [{ pack }] });
  http = await host.listen({ port: 0, ...(hasToken && { token }) });
  const client = await overHttp('2.x modern', http.url, hasToken ? { authorization } : {});
  await client.callTool({ name: 'wake' });
  await client.close();
  const probe = async (headers: Record<string, string> = {}) => {
    const response = await fetch(new URL('/healthz', http.url), { headers });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  return { probe, health };
};

afterEach(() => http.close());

it('without the token shows only that the server is alive, and checks no upstream', async () => {
  const { probe, health } = await start(true);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      probe(index % 2 === 0 ? {} : { authorization: 'Bearer wrong' }),
    ),
  );
  for (const response of responses)
    expect(response).toEqual({ status: 200, body: { alive: true } });
  expect(health).not.toHaveBeenCalled();
});

it('with the token shows an upstream that is down, with status 200', async () => {
  const { probe, health } = await start(true);
  const responses = await Promise.all(Array.from({ length: 20 }, () => probe({ authorization })));
  for (const response of responses) {
    expect(response).toEqual({
      status: 200,
      body: {
        alive: true,
        ok: false,
        packs: { p: { ok: false, detail: 'upstream is down' } },
      },
    });
  }
  expect(health).toHaveBeenCalledOnce();
});

it('shows the health of packs to every local client if no token is configured', async () => {
  const { probe } = await start(false);
  expect(await probe()).toMatchObject({ status: 200, body: { alive: true, ok: false } });
});
