import { describe, expect, it } from 'vitest';
import { bannedPhrase } from './banned-phrases.js';

describe('a banned phrase', () => {
  const config = {
    bannedPhrases: ['Check out', "you shouldn't", 'Café', 'link in bio', 'nowhere'],
  };

  it.each([
    'check out this',
    'CHECK   OUT',
    'check\u00A0out',
    'ch\u00ADeck out',
    'ｃｈｅｃｋ　ｏｕｔ',
    'You shouldn’t',
    'our cafe\u0301',
    'our cafe\u200B\u0301',
  ])('is found in %j', (text) => {
    expect(bannedPhrase(['fine', text], config)).toBeDefined();
  });

  it.each([
    'link\u3164in\u3164bio',
    'link\uFFA0in\uFFA0bio',
    'link\u2800in\u2800bio',
    'link\u180Ein bio',
    'link\u200Bin\u00ADbio',
    'li\u0001nk in bio',
    'li\uFFF9nk in bio',
    'ch\u200Beck\u200Bout',
    '#linkinbio',
    'l i n k in bio',
    'l.i.n.k in bio',
    'link-in-bio',
    'link_in\u200B-bio',
    'l\u0456nk in bio',
    '\u0421heck out',
    'you shouldn\u2032t',
  ])('does not pass as %j', (text) => {
    expect(bannedPhrase([text], config)).toBeDefined();
  });

  it('does not pass in two parts of a thread', () => {
    expect(bannedPhrase(['see the link in', 'bio of mine'], config)).toBe('link in bio');
  });

  it('of another script is not found in Latin text, nor a blank one anywhere', () => {
    expect(
      bannedPhrase(['an account'], { bannedPhrases: ['\u0430\u0441\u0441', '\u200B'] }),
    ).toBeUndefined();
  });

  it.each([
    'checkout',
    'check it out',
    'Time to check. Out of stock',
    'you should',
    'now here',
    '',
  ])('is not found in %j', (text) => {
    expect(bannedPhrase([text], config)).toBeUndefined();
  });
});
