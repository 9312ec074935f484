import { describe, expect, it } from 'vitest';
import { isBlocked, mentionsBlocked } from './hard-rules.js';

describe('a blocked author', () => {
  const config = { blockedAuthors: ['@Ada', 'bob', '42'] };

  it('is recognised by name and by id', () => {
    expect(isBlocked({ id: '1', username: 'ada' }, config)).toBe(true);
    expect(isBlocked({ id: '1', username: 'BOB' }, config)).toBe(true);
    expect(isBlocked({ id: '42' }, config)).toBe(true);
    expect(isBlocked({ id: '1', username: 'carol' }, config)).toBe(false);
    expect(isBlocked({ id: '1' }, config)).toBe(false);
  });

  it('is recognised in a mention of the whole name', () => {
    expect(mentionsBlocked(['hello @ADA!'], config)).toBe(true);
    expect(mentionsBlocked(['hello ＠bob'], config)).toBe(true);
    expect(mentionsBlocked(['hello @adam, ada and bob'], config)).toBe(false);
  });
});
