import { expect, test } from 'vitest';
import { responseText } from './evidence-text.js';

test('the last response is that of the upstream, not the text for the agent', () => {
  const message = 'The request was sent and its outcome is unknown';
  const told = (details?: unknown): string => responseText({ message, details });
  expect(told({ cause_code: 'x_api_error', status: 503 })).toBe('HTTP 503 (x_api_error)');
  expect(told({ cause_code: 'x_network_error', clock: 'attempt' })).toBe(
    'None: it timed out (x_network_error)',
  );
  expect(told({ cause_code: 'x_network_error' })).toBe('None (x_network_error)');
  expect(told()).toBe('None is stored');
  expect(responseText(null)).toBe('None is stored');
});
