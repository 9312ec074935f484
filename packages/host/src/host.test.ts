import { defineTool, type Pack, type Tool } from '@toolkeel/contract';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { createHost, type Host, type HostOptions } from './host.js';
import type { HostLog } from './log/log.js';

const tool = (
  name: string,
  over: Partial<Pick<Tool, 'effect' | 'profiles' | 'handler'>> = {},
): Tool =>
  defineTool({
    name,
    title: name,
    description: name,
    category: 'read',
    effect: 'read',
    profiles: ['readonly', 'api', 'workflow'],
    input: z.object({}),
    output: z.unknown(),
    errors: [],
    handler: () => null,
    ...over,
  } as never);

const writing = (name: string): Tool =>
  tool(name, { effect: 'once', profiles: ['api', 'workflow'] });

const packOf = (tools: readonly Tool[], over: Partial<Pack> = {}): Pack => ({
  name: 'p',
  configSchema: z.strictObject({ n: z.int().default(1) }),
  describe: () => tools,
  create: () =>
    Promise.resolve({
      tools,
      health: () => Promise.resolve({ ok: true, detail: '' }),
      close: () => Promise.resolve(),
    }),
  ...over,
});

const connect = async (host: Host): Promise<Client> => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 't', version: '1' });
  await Promise.all([host.connect(ours), client.connect(theirs)]);
  return client;
};

const call = async (options: HostOptions, name: string): Promise<Record<string, unknown>> => {
  const client = await connect(createHost(options));
  const { structuredContent } = await client.callTool({ name, arguments: {} });
  return structuredContent as Record<string, unknown>;
};

describe('registration', () => {
  it('rejects two tools with the same name', () => {
    const duplicate = /two tools are called a/;
    expect(() => createHost({ tools: [tool('a'), tool('a')] })).toThrow(duplicate);
    expect(() =>
      createHost({ tools: [tool('a')], packs: [{ pack: packOf([tool('a')]) }] }),
    ).toThrow(duplicate);
    const host = createHost({ tools: [tool('a')] });
    const definition = {
      name: 'a',
      inputSchema: { type: 'object' as const },
      annotations: { readOnlyHint: true },
    };
    expect(() => host.raw({ tools: [{ definition, call: () => ({ content: [] }) }] })).toThrow(
      duplicate,
    );
  });

  it('excludes mutations in the readonly profile', async () => {
    const handler = vi.fn();
    const tools = [tool('r'), { ...writing('w'), handler }];
    const host = createHost({ tools, packs: [{ pack: packOf([tool('pr'), writing('pw')]) }] });
    const definition = { name: 'raw', inputSchema: { type: 'object' as const } };
    host.raw({ tools: [{ definition, call: handler }] });
    expect(host.tools.map(({ name }) => name)).toEqual(['r', 'pr']);
    const client = await connect(host);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['r', 'pr']);
    for (const name of ['w', 'pw', 'raw']) {
      await expect(client.callTool({ name })).rejects.toMatchObject({ code: -32_602 });
    }
    expect(handler).not.toHaveBeenCalled();
  });

  it('includes the instructions of the packs, which depend on their configuration', async () => {
    const pack = packOf([tool('a')], {
      describe: (config) => [{ ...tool('a'), description: `n is ${JSON.stringify(config)}` }],
      instructions: (config) => `Configured: ${JSON.stringify(config)}; key hush`,
    });
    const client = await connect(
      createHost({
        instructions: 'A test.',
        packs: [{ pack, config: { n: 7 } }, { pack: packOf([tool('b')]) }],
        scrub: (text) => text.replaceAll('hush', '***'),
      }),
    );
    expect(client.getInstructions()).toBe('A test.\nConfigured: {"n":7}; key ***');
    expect((await client.listTools()).tools[0]?.description).toBe('n is {"n":7}');
    const plain = await connect(createHost({ tools: [tool('c')] }));
    expect(plain.getInstructions()).toBeUndefined();
  });

  it('includes mutations in the api profile', () => {
    const packs = [{ pack: packOf([tool('pr'), writing('pw')]) }];
    expect(createHost({ packs, profile: 'api' }).manifest().tools).toHaveLength(2);
  });

  it('rejects a tool whose effect differs from its description', async () => {
    const handler = vi.fn();
    const mismatched = packOf([tool('a')], {
      create: () => Promise.resolve({ tools: [{ ...writing('a'), handler }] } as never),
    });
    expect(await call({ packs: [{ pack: mismatched }] }, 'a')).toMatchObject({
      error: { code: 'internal_error' },
    });
    expect(handler).not.toHaveBeenCalled();
  });
});

describe('a pack', () => {
  it('is created on first use, once, with its configuration', async () => {
    const create = vi.fn(packOf([tool('a')]).create);
    const host = createHost({
      packs: [{ pack: packOf([tool('a')], { create }), config: { n: 2 } }],
    });
    const client = await connect(host);
    await client.listTools();
    expect(create).not.toHaveBeenCalled();
    await Promise.all([client.callTool({ name: 'a' }), client.callTool({ name: 'a' })]);
    expect(create).toHaveBeenCalledOnce();
    expect(create.mock.calls[0]?.[0]).toEqual({ n: 2 });
  });

  it('with an invalid configuration is rejected at once', () => {
    expect(() => createHost({ packs: [{ pack: packOf([]), config: { n: 'x' } }] })).toThrow(
      /^packs\.p\.n: /,
    );
  });

  it('that cannot be created results in an error envelope, and is retried', async () => {
    const create = vi.fn(packOf([tool('a')]).create).mockRejectedValueOnce(new Error('no key'));
    const lines: unknown[] = [];
    const log: HostLog = (_, event, fields) => lines.push({ event, ...fields });
    const host = createHost({ packs: [{ pack: packOf([tool('a')], { create }) }], log });
    const client = await connect(host);
    expect((await client.callTool({ name: 'a' })).structuredContent).toMatchObject({
      error: { code: 'internal_error' },
    });
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'unexpected', cause: new Error('no key') }),
    );
    expect((await client.callTool({ name: 'a' })).structuredContent).toMatchObject({
      success: true,
    });
    expect(await host.health()).toEqual({ p: { ok: true, detail: '' } });
  });

  it('that cannot be created is unhealthy', async () => {
    const create = () => Promise.reject(new Error('no key'));
    const host = createHost({ packs: [{ pack: packOf([], { create }) }] });
    expect(await host.health()).toEqual({ p: { ok: false, detail: 'no key' } });
    await host.close();
  });
});

describe('middleware', () => {
  it('receives the call and its context, and can replace the result', async () => {
    const seen: unknown[] = [];
    const host = createHost({
      tools: [tool('a')],
      middleware: [
        async (accepted, next, context) => {
          seen.push(
            accepted.correlationId === context.correlationId,
            context.meta['dev.toolkeel/idempotency-key'],
          );
          await next();
          return { ok: true, data: 'changed' };
        },
      ],
    });
    const client = await connect(host);
    const result = await client.callTool({
      name: 'a',
      _meta: { 'dev.toolkeel/idempotency-key': 'k' },
    });
    expect(result.structuredContent).toMatchObject({ data: 'changed' });
    expect(seen).toEqual([true, 'k']);
  });

  it('that throws results in an error envelope', async () => {
    const middleware = [() => Promise.reject(new Error('broken'))];
    expect(await call({ tools: [tool('a')], middleware }, 'a')).toMatchObject({
      success: false,
      error: { code: 'internal_error' },
    });
  });

  it('can transform tools with prepare', async () => {
    const prepare = <T extends { description: string }>(given: T): T => ({
      ...given,
      description: 'prepared',
    });
    const client = await connect(createHost({ packs: [{ pack: packOf([tool('a')]) }], prepare }));
    expect((await client.listTools()).tools[0]?.description).toBe('prepared');
  });
});

it('reports mode and approval mode in the workflow profile', async () => {
  const profile = { name: 'workflow', mode: 'composer', approvalMode: true } as const;
  expect(await call({ tools: [tool('a')], profile }, 'a')).toMatchObject({
    meta: { mode: 'composer', approval_mode: true },
  });
});

describe('health', () => {
  it('leaves no timer', async () => {
    const host = createHost({ packs: [{ pack: packOf([]) }] });
    await host.health();
    vi.useFakeTimers();
    try {
      expect(await host.health()).toEqual({ p: { ok: true, detail: '' } });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('has a time limit for a pack that never responds', async () => {
    vi.useFakeTimers();
    try {
      const silent = {
        tools: [],
        health: () => new Promise<never>(() => {}),
        close: () => Promise.resolve(),
      };
      const stuck = packOf([], { name: 'stuck', create: () => Promise.resolve(silent) });
      const host = createHost({ packs: [{ pack: stuck }, { pack: packOf([]) }] });
      const health = host.health();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await health).toEqual({
        stuck: { ok: false, detail: 'no response within 10000 ms' },
        p: { ok: true, detail: '' },
      });
    } finally {
      vi.useRealTimers();
    }
  });
});
