import type { PackEvent } from '@toolkeel/contract';
import type { KernelEvent } from '@toolkeel/kernel';
import { describe, expect, it } from 'vitest';
import { prometheusMetrics } from '../metrics.js';
import { handleEvent } from './events.js';
import { RunningCall } from './running-call.js';

const fault = {
  kind: 'server',
  sent: 'answered',
  status: 503,
  cause: new Error('secret'),
} as const;
const common = { correlationId: 'c', at: 1, name: 'search' };

const setUp = () => {
  const lines: Record<string, unknown>[] = [];
  const metrics = prometheusMetrics(() =>
    Promise.resolve([{ name: 'b.example', circuit: 'closed', retryTokens: 4.5 }]),
  );
  const call = new RunningCall({ name: 'search', meta: {}, timeoutMs: 1, now: 0 });
  const take = (event: KernelEvent | PackEvent, running: RunningCall | null = call) =>
    handleEvent(event, running ?? undefined, {
      metrics,
      log: (level, event, fields) => lines.push({ level, event, ...fields }),
    });
  return { lines, metrics, call, take };
};

describe('an event of the kernel', () => {
  it('is logged without its cause', () => {
    const { take, lines } = setUp();
    take({ ...common, type: 'retry_attempt', attempt: 1, afterMs: 12, fault });
    take({ ...common, type: 'attempt_end', attempt: 1, elapsedMs: 3 });
    expect(lines).toEqual([
      {
        level: 'info',
        event: 'retry_attempt',
        correlation_id: 'c',
        tool_name: 'search',
        name: 'search',
        attempt: 1,
        after_ms: 12,
        fault: 'server',
        sent: 'answered',
        status: 503,
      },
      expect.objectContaining({ level: 'debug', event: 'attempt_end', elapsed_ms: 3 }),
    ]);
  });

  it('is counted', async () => {
    const { take, call, metrics } = setUp();
    take({ ...common, type: 'retry_attempt', attempt: 1, afterMs: 12, fault });
    take({ ...common, type: 'retry_give_up', attempts: 2, reason: 'budget', fault });
    const upstream = 'a.example';
    take({ ...common, type: 'call_end', attempts: 2, elapsedMs: 1, fault, upstream });
    take({ ...common, type: 'circuit_open', upstream });
    expect(call.stats).toMatchObject({ retries: 1, attempts: 2, isExhausted: true });
    const { text } = await metrics.read();
    expect(text).toContain('retries_attempted_total{tool_name="search"} 1');
    expect(text).toContain('toolkeel_attempts_total{tool_name="search",upstream="a.example"} 2');
    expect(text).toContain('toolkeel_circuit_state{upstream="a.example"} 2');
    expect(text).toContain('toolkeel_circuit_state{upstream="b.example"} 0');
    expect(text).toContain('toolkeel_retry_budget_tokens{upstream="b.example"} 4.5');
  });

  it('is not counted as a retry if the retry was scheduled and never sent', () => {
    const { take, call } = setUp();
    take({ ...common, type: 'retry_attempt', attempt: 1, afterMs: 12, fault });
    take({ ...common, type: 'call_end', attempts: 1, elapsedMs: 1, fault, retryDropped: true });
    expect(call.stats).toMatchObject({ retries: 0, attempts: 1 });
  });

  it('is counted for at most 128 upstreams by name, and for all others together', async () => {
    const { take, metrics } = setUp();
    for (let i = 0; i < 200; i += 1) {
      take({ ...common, type: 'call_end', attempts: 1, elapsedMs: 1, upstream: `h${i}.example` });
    }
    const { text } = await metrics.read();
    expect(text.match(/^toolkeel_attempts_total/gm)).toHaveLength(129);
    expect(text).toContain('toolkeel_attempts_total{tool_name="search",upstream="other"} 72');
  });

  it('about the timeout of a single request is not logged as a timeout of the call', async () => {
    const { take, lines, metrics } = setUp();
    take({ ...common, type: 'timeout_abort', clock: 'attempt', elapsedMs: 1 });
    take({ ...common, type: 'timeout_abort', clock: 'deadline', elapsedMs: 1 });
    expect(lines).toMatchObject([
      { level: 'info', event: 'upstream_timeout', clock: 'attempt', correlation_id: 'c' },
      { level: 'info', event: 'upstream_timeout', clock: 'deadline' },
    ]);
    expect((await metrics.read()).text).not.toContain('timeouts_total{');
  });

  it('about a surfaced rate limit does not count as exhausted retries', () => {
    const { take, call } = setUp();
    take({ ...common, type: 'retry_give_up', attempts: 1, reason: 'limit_surfaced', fault });
    expect(call.stats.isExhausted).toBe(false);
  });

  it('of an ended call, or of an unknown type, is logged as well', () => {
    const { take, lines } = setUp();
    take({ ...common, type: 'retry_attempt', attempt: 1, afterMs: 1, fault }, null);
    take({ type: 'brand_new', correlationId: 'c' });
    expect(lines.map(({ event }) => event)).toEqual(['retry_attempt', 'brand_new']);
  });
});
