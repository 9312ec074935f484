import { expect, it } from 'vitest';
import { decisiveArgument } from './operation-view.js';

it('an operation is recognised by its text, else by what it acts on, never by its key', () => {
  const shown = (args: Readonly<Record<string, unknown>>): string | undefined => {
    const { name, value, cut } = decisiveArgument(args) ?? {};
    return name === undefined ? undefined : `${name}: ${value}${cut ? ' …' : ''}`;
  };
  expect(shown({ idempotency_key: 'k', media_ids: ['1'], text: 'Hello' })).toBe('text: Hello');
  expect(shown({ idempotency_key: 'k', target_user_id: '22' })).toBe('target_user_id: 22');
  expect(shown({ idempotency_key: 'k', count: 3 })).toBe('count: 3');
  expect(shown({ idempotency_key: 'k' })).toBeUndefined();
  expect(shown({ text: 'x'.repeat(501) })).toBe(`text: ${'x'.repeat(500)} …`);
});
