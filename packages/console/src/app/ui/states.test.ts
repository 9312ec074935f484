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
  state: 'waiting',
  wait: { reason: 'backoff', since: '', until: new Date(9_000).toISOString() },
};

test('"running" never hides a retry', () => {
  expect(inFlightText(call, 1_000)).toBe('Waits to retry, 8 s left');
  expect(inFlightText(call, 10_000)).toBe('Waits to retry');
  expect(inFlightText({ ...call, state: 'running' }, 0)).toBe('Retrying: attempt 2');
  expect(inFlightText({ ...call, state: 'running', attempts: 1 }, 0)).toBe('Running');
});

test('a call of a lost process is not shown as running', () => {
  expect(inFlightText({ ...call, state: 'running', lost: true }, 0)).toBe(
    'Not known: its process is lost',
  );
});
