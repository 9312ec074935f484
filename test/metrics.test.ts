import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { Pack } from '@toolkeel/contract';
import { createHost } from '@toolkeel/host';
import { samplePack } from '../packages/host/src/fixtures/sample.fixture.js';
import { ensurePromtool, findPromtool } from '../scripts/lib/promtool.mjs';

/** With an upstream, so that all metrics have a sample. */
const pack: Pack = {
  ...samplePack,
  create: async (config, deps) => ({
    ...(await samplePack.create(config, deps)),
    upstreams: () => [{ name: 'flaky', circuit: 'closed', retryTokens: 4.5 }],
  }),
};

/** The metrics after one call. */
const scrape = async (): Promise<string> => {
  const host = createHost({ packs: [{ pack }], version: '1.2.3' });
  const http = await host.listen({ port: 0 });
  try {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'flaky' } };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const answered = await fetch(`${http.url}/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify(call),
    });
    expect(await answered.text()).toContain('calls');
    return await (await fetch(`${http.url}/metrics`)).text();
  } finally {
    await http.close();
    await host.close();
  }
};

test('promtool accepts the metrics', async () => {
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

test('metrics have the toolkeel_ or process_ prefix, except for three required names', async () => {
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
  expect(text).toContain('toolkeel_attempts_total{tool_name="flaky",upstream="flaky"} 3');
});
