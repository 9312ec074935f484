import { describe, expect, it } from 'vitest';
import { bannedPhrase, isBlocked, mentionsBlocked } from './hard-rules.js';

describe('a banned phrase', () => {
  const config = { bannedPhrases: ['Check out', "you shouldn't"] };

  it.each([
    'check out this',
    'CHECK   OUT',
    'check\u00A0out',
    'ch\u00ADeck out',
    'ｃｈｅｃｋ　ｏｕｔ',
    'You shouldn’t',
  ])('is found in %j', (text) => {
    expect(bannedPhrase(['fine', text], config)).toBeDefined();
  });

  it.each(['checkout', 'check it out', 'you should', ''])('is not found in %j', (text) => {
    expect(bannedPhrase([text], config)).toBeUndefined();
  });
});

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
