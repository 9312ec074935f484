import { describe, expect, it } from 'vitest';
import { repeatsValue } from './issues.js';

describe('a custom message', () => {
  it.each<[string, string, unknown]>([
    ['a whole text', 'hunter-2 is bad', 'hunter-2'],
    ['a text in quotes', 'not "a b c"', 'a b c'],
    ['a part of a long text', 'begins with sk-live-0123', 'sk-live-0123456789'],
    ['a text inside', 'not secret!', { list: [{ at: 'secret!' }] }],
    ['a number', '4711 is too much', 4711],
    ['a short word', 'no ab here', 'ab'],
    [
      'an unknown part of too large a value',
      'must be short',
      Array.from({ length: 2000 }, () => 1),
    ],
    ['an unknown part of too long a string', 'must be short', 'x'.repeat(200_000)],
  ])('repeats %s', (_, message, value) => {
    expect(repeatsValue(message, value)).toBe(true);
  });

  it.each<[string, string, unknown]>([
    ['nothing that was sent', 'must be digits only', 'sk-live-0123456789'],
    ['a letter, as every sentence does', 'must be a date', 'a'],
    ['a short text inside of a word', 'must be a date', 'at'],
    ['a few characters of a long text', 'must look like 2026-01-31', '2026-01-3 at noon'],
    ['a name', 'must have no colour', { colour: 1 }],
    ['nothing where there is nothing', 'is needed', undefined],
    ['nothing of what is no text', 'true or null', [true, null]],
  ])('does not repeat %s', (_, message, value) => {
    expect(repeatsValue(message, value)).toBe(false);
  });
});
