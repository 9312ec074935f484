import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineTool, type Pack, type Tool } from '@toolkeel/contract';
import { createHost } from '@toolkeel/host';
import { guard, presets, type KernelEvent } from '@toolkeel/kernel';
import { ensurePromtool, findPromtool } from '../scripts/lib/promtool.mjs';

const lookUp = (observe: (event: KernelEvent) => void): Tool => {
  const request = guard(() => Promise.resolve('found'), presets.stac, {
    effect: 'read',
    name: 'items.example',
    listener: observe,
  });
  return defineTool({
    name: 'look_up',
    title: 'Look up',
    description: 'Looks up an item.',
    category: 'read',
    effect: 'read',
    profiles: ['readonly', 'api', 'workflow'],
    input: z.object({}),
    output: z.object({ item: z.string() }),
    errors: ['upstream_unavailable', 'circuit_open'],
    handler: async (_, { correlationId }) => ({
      item: await request(undefined, { correlationId }),
    }),
  });
};

const pack: Pack = {
  name: 'items',
  configSchema: z.strictObject({}),
  describe: () => [lookUp(() => {})],
  create: (_, { observe }) =>
    Promise.resolve({
      tools: [lookUp(observe)],
      upstreams: () => [{ name: 'items.example', circuit: 'closed', retryTokens: 4.5 }],
      health: () => Promise.resolve({ ok: true, detail: '' }),
      close: () => Promise.resolve(),
    }),
};

/** The metrics after one call. */
const scrape = async (): Promise<string> => {
  const host = createHost({ packs: [{ pack }], version: '1.2.3' });
  const http = await host.listen({ port: 0 });
  try {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'look_up' } };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const answered = await fetch(`${http.url}/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify(call),
    });
    expect(await answered.text()).toContain('found');
    return await (await fetch(`${http.url}/metrics`)).text();
  } finally {
    await http.close();
    await host.close();
  }
};

test('promtool finds nothing wrong with the metrics', async () => {
  await ensurePromtool();
  const promtool = findPromtool();
  if (promtool === undefined)
    throw new Error(
      'promtool is missing: this test needs it. Install the Debian package prometheus, or put promtool on the PATH.',
    );
  const lint = spawn(promtool, ['check', 'metrics']);
  let output = '';
  lint.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  lint.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  lint.stdin.end(await scrape());
  const [code] = (await once(lint, 'close')) as [number];
  expect({ code, output }).toEqual({ code: 0, output: '' });
}, 120_000);

test('metrics have the prefix, except for those that have their name from elsewhere', async () => {
  const text = await scrape();
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
  expect(names.filter((name) => !/^(toolkeel|process)_/.test(name)).toSorted()).toEqual([
    'retries_attempted_total',
    'retry_exhausted_total',
    'timeouts_total',
  ]);
  expect(names).toEqual(
    expect.arrayContaining(['process_cpu_seconds_total', 'process_resident_memory_bytes']),
  );
  const { node } = process.versions;
  expect(text).toContain(`toolkeel_build_info{version="1.2.3",node="${node}"} 1`);
  expect(text).toContain('toolkeel_attempts_total{tool_name="look_up",upstream="items.example"} 1');
});
