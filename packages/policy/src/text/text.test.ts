import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { cpuTime } from '../cpu-time.fixture.js';
import { fold, plain } from './fold.js';
import { glob } from './glob.js';
import { isHostOf, linkHosts } from './links.js';
import { countCashtags, countHashtags, countMentions } from './marks.js';
import { didYouMean } from './nearest.js';
import { listWords, shownValues } from './words.js';

describe('a pattern', () => {
  it('matches what the same regular expression matches', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
    fc.assert(
      fc.property(letters, word, (pattern, given) => {
        const same = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
        expect(glob(pattern)(given)).toBe(same.test(given));
      }),
      { numRuns: 1000 },
    );
  });

  it('takes nothing but the star for special', () => {
    expect(glob('a.b')('axb')).toBe(false);
    expect(glob('[a]+*')('[a]+?')).toBe(true);
  });

  it('cannot be made slow by a hostile text', () => {
    const evil = `${'a'.repeat(1_000_000)}!`;
    const spent = cpuTime(() => {
      expect(glob('*a*a*a*a*a*a*a*a*a*a*a*a*b')(evil)).toBe(false);
      expect(glob(`*${'a'.repeat(100)}b*`)(evil)).toBe(false);
    });
    expect(spent).toBeLessThan(1000);
  });
});

test('texts are compared as people see them', () => {
  expect(fold('  Check\n\tOUT ')).toBe(' check out ');
  expect(fold('li\ufeffnk')).toBe('link');
  expect(fold('ｌｉｎｋ\u200b in\u00ad bio')).toBe('link in bio');
});

describe('links', () => {
  test.for([
    ['see https://Example.com/a?b#c now', ['example.com']],
    ['www.example.com and example.org/path/file.zip', ['www.example.com', 'example.org']],
    ['https://good.example@evil.test/', ['evil.test']],
    ['https://a@b.test@evil.test', ['evil.test']],
    ['https://evil.test:8080\\@good.example', ['evil.test']],
    ['https://a.test,https://b.test', ['a.test', 'b.test']],
    ['https://a.test,b.test', ['a.test', 'b.test']],
    ['https://a.test/?to=https://b.test', ['a.test', 'b.test']],
    ['http://[::1]:80/x', ['[::1]']],
    ['(bit.ly/3xyz)', ['bit.ly']],
    ['münchen.example', ['xn--mnchen-3ya.example']],
    ['ｅxample。com', ['example.com']],
    ['exam\u200bple.com', ['example.com']],
    ['...evil.test...', ['evil.test']],
    ['a@example.com or @example.com', []],
    ['e.g. node.js 3.5, i.e. README.txt: the end... Next.', []],
    [`http://ev${'%C2%AD'.repeat(400)}il.test/`, ['evil.test']],
    [`http://ev${'%EF%B8%8F'.repeat(400)}il.test/`, ['evil.test']],
    ['no link', []],
    ['://', []],
  ] as const)('in %j are %j', ([given, hosts]) => {
    expect(linkHosts(given)).toEqual(hosts);
  });

  it('are found in a hostile text in no time', () => {
    const spent = cpuTime(() => {
      for (const unit of ['.', '-.', 'a.', '://', '@', 'http://', 'a.b/']) {
        linkHosts(unit.repeat(100_000 / unit.length));
      }
    });
    expect(spent).toBeLessThan(2000);
  });

  it('lead to a host or to a part of it', () => {
    expect(isHostOf('blog.a.test', ['a.test'])).toBe(true);
    expect(isHostOf('nota.test', ['a.test'])).toBe(false);
  });
});

test('mentions, hashtags and cashtags are counted', () => {
  const given = '@ann mail a@b.c #one #2 &#39; $ABC $20 $BRK.A ＠bob $toolonger @@x';
  expect([countMentions(given), countHashtags(given), countCashtags(given)]).toEqual([2, 1, 2]);
});

test.each([
  ['a letter that is not ASCII', 'caf\u00e9@bob', 1, 0, 0],
  ['a letter that folds to ASCII', 'ａ@bob ⓐ#tag ⓐ$ABC \u017f@bob', 2, 1, 1],
  ['an invisible character', 'a\u200b@bob a\u200b#tag a\u200e$ABC', 1, 1, 1],
  ['a variation selector', 'a\ufe0f@bob a\ufe0f#tag', 1, 1, 0],
  ['RT', 'RT@bob start@bob', 1, 0, 0],
  ['an ASCII letter', 'a@bob a#tag a$ABC \u00e9#tag', 0, 0, 0],
])('marks are counted after %s as X counts them', (_, given, mentions, hashtags, cashtags) => {
  const counted = [countMentions(given), countHashtags(given), countCashtags(given)];
  expect(counted).toEqual([mentions, hashtags, cashtags]);
});

describe('a plain text', () => {
  it('is what normalization makes of it', () => {
    const letters = fc.constantFrom('e', '\u0301', '\u0323', 'ｱ', '\uFF9E', 'ﬁ', '語', '\u200b');
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 40 }), (given) => {
        const text = given.join('');
        const normal = text.normalize('NFKC').replaceAll('\u200b', '');
        expect(plain(text)).toBe(normal);
        const long = `${'é'.repeat(600)} `;
        expect(plain(long + text)).toBe(long + normal);
      }),
    );
  });

  it('is made of nothing but marks in no time', () => {
    const spent = cpuTime(() => {
      for (const unit of ['\u0301\u0323', '\u0301\uFF9E', 'a\u0301\u0323']) {
        const text = unit.repeat(100_000 / unit.length);
        fold(text);
        linkHosts(`http://${text}`);
      }
    });
    expect(spent).toBeLessThan(2000);
  });
});

describe('a suggestion', () => {
  const names = ['x_post_tweet', 'x_post_thread', 'x_like_tweet'];

  it('names what may have been meant', () => {
    expect(didYouMean('post_tweet', names)).toContain('"x_post_tweet"');
    expect(didYouMean('x_pots_tweet', names)).toContain('"x_post_tweet"');
    expect(didYouMean('delete_everything', names)).toBe('');
    expect(didYouMean('x'.repeat(121), names)).toBe('');
  });

  it('finds every name with one letter too much', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), (name, at) => {
        const place = at % name.length;
        const wrong = `${name.slice(0, place)}q${name.slice(place)}`;
        expect(didYouMean(wrong, names)).toContain(`"${name}"`);
      }),
    );
  });
});

test('lists and values are shown in a few words', () => {
  expect(listWords(['a', 2, true])).toBe('"a", 2 or true');
  expect(listWords([1, 2, 3, 4, 5])).toBe('1, 2, 3 or 2 more');
  expect(shownValues(['x'.repeat(50), [1], {}, 4])).toBe(
    'a text of 50 characters, a list of 1, an object and 1 more',
  );
  expect(shownValues([])).toBeUndefined();
});
