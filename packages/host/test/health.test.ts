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

/** A server whose pack is in use, and whose upstream is down. */
const start = async (guarded: boolean) => {
  const health = vi.fn(() => Promise.resolve({ ok: false, detail: 'upstream is down' }));
  const pack: Pack = {
    name: 'p',
    configSchema: z.strictObject({}),
    describe: () => [wake],
    create: () => Promise.resolve({ tools: [wake], health, close: () => Promise.resolve() }),
  };
  const host = createHost({ packs: [{ pack }] });
  http = await host.listen({ port: 0, ...(guarded && { token }) });
  const client = await overHttp('2.x modern', http.url, guarded ? { authorization } : {});
  await client.callTool({ name: 'wake' });
  await client.close();
  const ask = async (headers: Record<string, string> = {}) => {
    const response = await fetch(new URL('/healthz', http.url), { headers });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  return { ask, health };
};

afterEach(() => http.close());

it('strangers learn that the server lives, and have no upstream asked', async () => {
  const { ask, health } = await start(true);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      ask(index % 2 === 0 ? {} : { authorization: 'Bearer wrong' }),
    ),
  );
  for (const answer of answers) expect(answer).toEqual({ status: 200, body: { alive: true } });
  expect(health).not.toHaveBeenCalled();
});

it('an upstream that is down is told to those who may know, and does not make the server dead', async () => {
  const { ask, health } = await start(true);
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask({ authorization })));
  for (const answer of answers) {
    expect(answer).toEqual({
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

it('without a token everybody on this machine may know', async () => {
  const { ask } = await start(false);
  expect(await ask()).toMatchObject({ status: 200, body: { alive: true, ok: false } });
});
