import { expect, test } from 'vitest';
import { decisiveText, responseText } from './evidence-text.js';

test('an operation is recognised by its text, else by what it acts on', () => {
  expect(decisiveText({ media_ids: ['1'], idempotency_key: 'k', text: 'Hello' })).toBe('Hello');
  expect(decisiveText({ idempotency_key: 'k', target_user_id: '22' })).toBe('target_user_id: 22');
  expect(decisiveText({ count: 3 })).toBe('');
  expect(decisiveText(undefined)).toBe('');
  expect(decisiveText({ text: 'x'.repeat(1000) })).toHaveLength(281);
});

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
