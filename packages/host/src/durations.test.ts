import client from 'prom-client';
import { expect, it } from 'vitest';
import { CallDurations } from './durations.js';

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300];

it('exposes the same text as a histogram of prom-client', async () => {
  const expected = new client.Registry();
  const histogram = new client.Histogram({
    name: 'toolkeel_tool_call_duration_seconds',
    help: 'Duration of calls, including retries and waits.',
    labelNames: ['tool_name'],
    buckets,
    registers: [expected],
  });
  const durations = new CallDurations();
  for (const tool of ['echo', 'with "quotes"'])
    for (const seconds of [0, 0.005, 0.0051, 0.3, 300, 1000, ...buckets]) {
      histogram.observe({ tool_name: tool }, seconds);
      durations.observe(tool, seconds);
    }
  const registry = new client.Registry();
  durations.register(client, registry);
  expect(await registry.metrics()).toBe(await expected.metrics());
});
