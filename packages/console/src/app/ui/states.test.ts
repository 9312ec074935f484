import { expect, test } from 'vitest';
import type { InFlightCall } from '../../api/types.js';
import { inFlightText } from './states.js';

const call: InFlightCall = {
  correlation_id: 'c',
  tool: 't',
  process_id: 'p',
  process_name: 'toolkeel',
  at: '',
  deadline_at: '',
  attempts: 2,
  at_upstream: 0,
  state: 'waiting',
  wait: { reason: 'backoff', since: '', until: new Date(9_000).toISOString() },
};

test('"running" never hides a retry', () => {
  expect(inFlightText(call, 1_000)).toBe('Waits to retry, 8 s left');
  expect(inFlightText(call, 10_000)).toBe('Waits to retry');
  const running = { ...call, at_upstream: 1 };
  expect(inFlightText({ ...running, state: 'retrying' }, 0)).toBe('Retrying: attempt 2');
  expect(inFlightText({ ...running, state: 'running', attempts: 1 }, 0)).toBe('Running');
});

test('the second request of a call is not a retry, and a hedge is shown', () => {
  const running = { ...call, state: 'running' } as const;
  expect(inFlightText({ ...running, at_upstream: 1 }, 0)).toBe('Running');
  expect(inFlightText({ ...running, at_upstream: 2 }, 0)).toBe('Running, 2 requests at once');
});

test('a call of a lost process is not shown as running', () => {
  expect(inFlightText({ ...call, state: 'running', lost: true }, 0)).toBe(
    'Not known: its process is lost',
  );
});
