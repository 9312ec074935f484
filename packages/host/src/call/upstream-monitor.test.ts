import type { KernelEvent } from '@toolkeel/kernel';
import { expect, it } from 'vitest';
import { UpstreamMonitor } from './upstream-monitor.js';

const event = (type: string, more: object = {}): KernelEvent =>
  Object.assign(
    { type, at: 0, correlationId: 'c', upstream: 'api' },
    more,
  ) as unknown as KernelEvent;
const failure = (kind: string): KernelEvent =>
  event('attempt_end', {
    attempt: 0,
    elapsedMs: 1,
    fault: { kind, sent: 'answered', status: 503 },
  });
const success = event('attempt_end', { attempt: 0, elapsedMs: 1 });

const monitored = () => {
  const clock = { now: 1_000_000 };
  return { clock, monitor: new UpstreamMonitor(() => clock.now) };
};

it('counts attempts of the last five minutes, and since when all have failed', () => {
  const { clock, monitor } = monitored();
  expect(monitor.get('api')).toBeUndefined();
  monitor.note(success);
  clock.now += 1000;
  monitor.note(failure('server'));
  clock.now += 1000;
  monitor.note(failure('timeout'));
  expect(monitor.get('api')).toMatchObject({
    attempts: 3,
    failures: 2,
    failing: 2,
    failingSince: 1_001_000,
    lastSuccessAt: 1_000_000,
    lastFailure: { kind: 'timeout', at: 1_002_000 },
  });
  clock.now += 1000;
  monitor.note(success);
  expect(monitor.get('api')).toMatchObject({ failing: 0 });
  expect(monitor.get('api')).not.toHaveProperty('failingSince');
  clock.now += 310_000;
  expect(monitor.get('api')).toMatchObject({ attempts: 0, failures: 0 });
});

it('does not blame the upstream for rejections, rate limits and cancelled calls', () => {
  const { monitor } = monitored();
  for (const kind of ['rejected', 'rate_limited', 'cancelled', 'circuit_open']) {
    monitor.note(failure(kind));
  }
  expect(monitor.get('api')).toMatchObject({ attempts: 0, failures: 0, failing: 0 });
});

it('remembers the last changes of the circuit', () => {
  const { clock, monitor } = monitored();
  for (let n = 0; n < 60; n++) {
    clock.now += 1;
    monitor.note(event(n % 2 === 0 ? 'circuit_open' : 'circuit_close'));
  }
  const { changes } = monitor.get('api')!;
  expect(changes).toHaveLength(50);
  expect(changes.at(-1)).toEqual({ at: 1_000_060, state: 'closed' });
});
