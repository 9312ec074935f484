import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { cpuTime } from '../tools.fixture.js';
import { fold, plain } from './text.js';
import { glob } from './text.js';
import { isWithinHosts, linkHosts } from './entities.js';
import { countCashtags, countHashtags, countMentions } from './entities.js';
import { didYouMean } from './suggestion.js';
import { formatList, formatValues } from './text.js';

describe('glob', () => {
  it('agrees with the equivalent regular expression', () => {
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

  it('treats only the star as special', () => {
    expect(glob('a.b')('axb')).toBe(false);
    expect(glob('[a]+*')('[a]+?')).toBe(true);
  });

  it('takes linear time on hostile strings', () => {
    const evil = `${'a'.repeat(1_000_000)}!`;
    const spent = cpuTime(() => {
      expect(glob('*a*a*a*a*a*a*a*a*a*a*a*a*b')(evil)).toBe(false);
      expect(glob(`*${'a'.repeat(100)}b*`)(evil)).toBe(false);
    });
    expect(spent).toBeLessThan(1000);
  });
});

test('fold ignores case, width, spacing and invisible characters', () => {
  expect(fold('  Check\n\tOUT ')).toBe(' check out ');
  expect(fold('li\ufeffnk')).toBe('link');
  expect(fold('ｌｉｎｋ\u200b in\u00ad bio')).toBe('link in bio');
});

describe('linkHosts', () => {
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
  ] as const)('finds in %j: %j', ([given, hosts]) => {
    expect(linkHosts(given)).toEqual(hosts);
  });

  it('takes linear time on hostile strings', () => {
    const spent = cpuTime(() => {
      for (const unit of ['.', '-.', 'a.', '://', '@', 'http://', 'a.b/']) {
        linkHosts(unit.repeat(100_000 / unit.length));
      }
    });
    expect(spent).toBeLessThan(2000);
  });

  it('compares hosts and their subdomains', () => {
    expect(isWithinHosts('blog.a.test', ['a.test'])).toBe(true);
    expect(isWithinHosts('nota.test', ['a.test'])).toBe(false);
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
])(
  'mentions and tags after %s are counted as X counts them',
  (_, given, mentions, hashtags, cashtags) => {
    const counted = [countMentions(given), countHashtags(given), countCashtags(given)];
    expect(counted).toEqual([mentions, hashtags, cashtags]);
  },
);

describe('plain', () => {
  it('equals NFKC without invisible characters', () => {
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

  it('takes linear time on combining marks', () => {
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

describe('didYouMean', () => {
  const names = ['x_post_tweet', 'x_post_thread', 'x_like_tweet'];

  it('suggests close names', () => {
    expect(didYouMean('post_tweet', names)).toContain('"x_post_tweet"');
    expect(didYouMean('x_pots_tweet', names)).toContain('"x_post_tweet"');
    expect(didYouMean('delete_everything', names)).toBe('');
    expect(didYouMean('x'.repeat(121), names)).toBe('');
  });

  it('finds every name with one extra character', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), (name, at) => {
        const place = at % name.length;
        const wrong = `${name.slice(0, place)}q${name.slice(place)}`;
        expect(didYouMean(wrong, names)).toContain(`"${name}"`);
      }),
    );
  });
});

test('formatList and formatValues shorten long lists and strings', () => {
  expect(formatList(['a', 2, true])).toBe('"a", 2 or true');
  expect(formatList([1, 2, 3, 4, 5])).toBe('1, 2, 3 or 2 more');
  expect(formatValues(['x'.repeat(50), [1], {}, 4])).toBe(
    'a string of 50 characters, an array of 1, an object and 1 more',
  );
  expect(formatValues([])).toBeUndefined();
});
