import { defineTool } from '@toolkeel/contract';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { createHost, type Host, type HostLog, type HttpHandle } from '@toolkeel/host';
import { begun, samplePack } from '../src/fixtures/sample.fixture.js';
import { generations, overHttp, overStdio, type AnyClient } from './clients.js';

const until = async (condition: () => boolean): Promise<void> => {
  const end = performance.now() + 50_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error('the condition never became true');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

const gate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe.each(generations)('over stdio, a client of %s', (generation) => {
  let client: AnyClient;

  beforeAll(async () => {
    client = await overStdio(generation, { SAMPLE_TIMEOUT_MS: '600', SAMPLE_PROFILE: 'readonly' });
    // Loads lazy modules before the measurements.
    await client.callTool({ name: 'echo', arguments: { text: 'warm' } });
  });

  afterAll(() => client.close());

  it('gets a timeout from a handler that ignores its signal, not before the time limit', async () => {
    const from = performance.now();
    const result = await client.callTool({ name: 'wait_forever' });
    const took = performance.now() - from;
    expect(result).toMatchObject({
      isError: true,
      structuredContent: {
        error: { code: 'timeout', retryable: true, details: { clock: 'deadline' } },
      },
    });
    expect(took).toBeGreaterThan(598);
    const id = (result['structuredContent'] as { meta: { correlation_id: string } }).meta
      .correlation_id;
    await until(() => linesOf(client.stderr()).some((line) => line['event'] === 'timeout_abort'));
    const events = linesOf(client.stderr()).filter((line) => line['correlation_id'] === id);
    expect(events.map((line) => line['event'])).toEqual(['timeout_abort', 'tool_call']);
  });

  it('aborts the handler when it cancels', async () => {
    const controller = new AbortController();
    const call = client.callTool({ name: 'wait' }, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 100);
    await expect(call).rejects.toThrow(/enough|abort/i);
    await until(() => client.stderr().includes('wait was aborted'));
    await until(() => linesOf(client.stderr()).some((line) => line['code'] === 'cancelled'));
  });

  it('reads only MCP messages from stdout', async () => {
    expect(await client.callTool({ name: 'chatty' })).toMatchObject({
      structuredContent: { success: true },
    });
    await until(() => client.stderr().includes('stray bytes'));
    const stray = linesOf(client.stderr()).filter((line) => line['event'] === 'stray_stdout');
    expect(stray).toMatchObject([
      { text: expect.stringContaining('"result":"stray"') },
      { text: 'stray bytes' },
    ]);
  });

  it('gets an error for a message that is too long, and continues', async () => {
    const text = 'x'.repeat(11 * 1024 * 1024);
    await expect(client.callTool({ name: 'echo', arguments: { text } })).rejects.toThrow(
      /exceeds 10485760 bytes/,
    );
    expect(await client.callTool({ name: 'echo', arguments: { text: 'short' } })).toMatchObject({
      structuredContent: { success: true },
    });
  });

  it('sees no mutations in the readonly profile', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'echo',
      'wait',
      'wait_forever',
      'chatty',
      'list_words',
      'shape',
      'flaky',
    ]);
    await expect(
      client.callTool({ name: 'write_word', arguments: { word: 'x' } }),
    ).rejects.toMatchObject({ code: -32_602 });
  });
});

describe('over HTTP', () => {
  let host: Host;
  let http: HttpHandle;
  const lines: Record<string, unknown>[] = [];
  const log: HostLog = (_level, event, fields) => lines.push({ event, ...fields });

  beforeAll(async () => {
    host = createHost({ packs: [{ pack: samplePack, callTimeoutMs: 600 }], log });
    http = await host.listen({ port: 0 });
  });

  afterAll(async () => {
    await http.close();
    await host.close();
  });

  it.each(generations)('a client of %s gets a timeout at the time limit', async (generation) => {
    const client = await overHttp(generation, http.url);
    const from = performance.now();
    expect(await client.callTool({ name: 'wait_forever' })).toMatchObject({
      structuredContent: { error: { code: 'timeout', details: { clock: 'deadline' } } },
    });
    expect(performance.now() - from).toBeGreaterThan(598);
    await client.close();
  });

  it.each(generations)('a client of %s that cancels aborts the handler', async (generation) => {
    const client = await overHttp(generation, http.url);
    const controller = new AbortController();
    const seen = lines.length;
    const call = client.callTool({ name: 'wait' }, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 100);
    await expect(call).rejects.toThrow(/enough|abort/i);
    await until(() => lines.slice(seen).some((line) => line['code'] === 'cancelled'));
    await client.close();
  });

  it('a client without a session that disconnects aborts the handler', async () => {
    const seen = lines.length;
    const before = begun.count;
    const disconnect = new AbortController();
    const response = fetch(new URL('/mcp', http.url), {
      method: 'POST',
      signal: disconnect.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'wait', arguments: {} },
      }),
    });
    response.catch(() => {});
    await until(() => begun.count > before);
    disconnect.abort();
    await until(() => lines.slice(seen).some(({ event }) => event === 'tool_call'));
    expect(lines.slice(seen).find(({ event }) => event === 'tool_call')).toMatchObject({
      tool_name: 'wait',
      code: 'cancelled',
    });
  });

  it('completes calls in flight when it stops, and refuses new ones', async () => {
    const own = createHost({ packs: [{ pack: samplePack, callTimeoutMs: 400 }] });
    const server = await own.listen({ port: 0, graceMs: 5_000 });
    const client = await overHttp('2.x modern', server.url);
    const seen = begun.count;
    const running = client.callTool({ name: 'wait_forever' });
    await until(() => begun.count > seen);
    const closing = server.close();
    const late = await fetch(`${server.url}/healthz`).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(TypeError);
    expect(await running).toMatchObject({ structuredContent: { error: { code: 'timeout' } } });
    await closing;
    await own.close();
  });

  it.each(['listening', 'host'] as const)(
    'lets a call use its whole time limit when the %s closes',
    async (what) => {
      const [started, done] = [gate(), gate()];
      const slow = defineTool({
        name: 'slow',
        title: 'Slow',
        description: 'Takes long.',
        category: 'read',
        effect: 'read',
        profiles: ['readonly', 'api', 'workflow'],
        input: z.object({}),
        output: z.object({}),
        errors: [],
        handler: async () => {
          started.open();
          await done.opened;
          return {};
        },
      });
      const own = createHost({ tools: [slow], callTimeoutMs: 100_000 });
      const listening = await own.listen({ port: 0 });
      const client = await overHttp('2.x modern', listening.url);
      const running = client.callTool({ name: 'slow' });
      await started.opened;
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const closing = { listening, host: own }[what].close();
      await vi.advanceTimersByTimeAsync(90_000);
      vi.useRealTimers();
      done.open();
      expect(await running).toMatchObject({ structuredContent: { success: true } });
      await closing;
      await listening.close();
      await own.close();
    },
  );

  it('ends calls that exceed the grace period', async () => {
    const own = createHost({ packs: [{ pack: samplePack, callTimeoutMs: 60_000 }] });
    const server = await own.listen({ port: 0, graceMs: 100 });
    const client = await overHttp('2.x modern', server.url);
    const seen = begun.count;
    const running = client.callTool({ name: 'wait_forever' });
    await until(() => begun.count > seen);
    await server.close();
    expect(await running).toMatchObject({
      structuredContent: { error: { code: 'cancelled' } },
    });
    await own.close();
  });
});
