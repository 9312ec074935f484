import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { weightedLength } from './length.js';
import { findLinks } from './entities.js';

describe('the weighted length', () => {
  test.for([
    ['', 0],
    ['hello', 5],
    ['café', 4],
    ['cafe\u0301', 4],
    ['日本語', 6],
    ['한국어', 6],
    ['Привет', 6],
    ['—', 1],
    ['…', 2],
    ['“quoted”', 8],
    ['👍', 2],
    ['👍🏽', 2],
    ['👨‍👩‍👧‍👦', 2],
    ['🐦‍⬛', 2],
    ['🇺🇳', 2],
    ['1️⃣', 2],
    ['©', 1],
    ['©️', 2],
    ['⚡\ufe0f'.repeat(140), 280],
    ['⬛\ufe0f⬜\ufe0f', 4],
    ['⌚\ufe0f☕\ufe0f♈\ufe0f♓\ufe0f⭐\ufe0f🀄\ufe0f🈚\ufe0f', 14],
    ['✅\ufe0f', 4],
    ['😀\ufe0f', 4],
    ['⚡\ufe0e', 4],
    ['https://example.com', 23],
    [`https://example.com/${'a'.repeat(200)}`, 23],
    ['http://example.org/a?b=c#d', 23],
    ['see example.com now', 31],
    ['(https://example.com/a_(b))', 25],
    ['https://example.com/a.', 24],
    ['me@example.com', 14],
    ['http://localhost:3000', 21],
    ['version 1.2.3', 13],
    ['https://t.co/abc https://t.co/def', 47],
    ['日https://example.com', 25],
  ] as const)('of %j is %d', ([text, length]) => {
    expect(weightedLength(text)).toBe(length);
  });

  test('is one or two for each character outside links', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(findLinks(text.normalize('NFC')).length === 0);
        const characters = Array.from(text.normalize('NFC')).length;
        expect(weightedLength(text)).toBeLessThanOrEqual(characters * 2);
        expect(weightedLength(text) > 0).toBe(characters > 0);
      }),
    );
  });

  test('does not depend on the normalization form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(weightedLength(text.normalize('NFD'))).toBe(weightedLength(text.normalize('NFC')));
      }),
    );
  });
});

describe('links', () => {
  const found = (text: string): string[] =>
    findLinks(text).map(({ start, end }) => text.slice(start, end));

  test.for([
    [
      'go to https://example.com/a?b=c, then www.example.org.',
      ['https://example.com/a?b=c', 'www.example.org'],
    ],
    ['“https://example.com/path”', ['https://example.com/path']],
    ['example.de and readme.md', ['example.de', 'readme.md']],
    ['@example.com #example.com $example.com me@example.com', []],
    ['https://user.example.co.uk:8080/x', ['https://user.example.co.uk:8080/x']],
    ['https://t.co/AbC123(more)', ['https://t.co/AbC123']],
    ['https://example.com日本', ['https://example.com']],
    ['ftp://example.com file.invalidname', []],
  ] as const)('in %j', ([text, links]) => {
    expect(found(text)).toEqual(links);
  });

  test('are ordered, disjoint and inside the text', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom(
        'https://',
        'example.com',
        '.',
        '/',
        '(',
        ')',
        ' ',
        '?a=b',
        'é',
        '日',
        '@',
        't.co/a',
      ),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        let last = 0;
        for (const { start, end } of findLinks(text)) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          last = end;
        }
        expect(last).toBeLessThanOrEqual(text.length);
      }),
    );
  });

  test.for([
    'a',
    'a.',
    'é',
    'https://',
    '(',
    'https://example.com/(',
    'a-',
    '.com',
    '?',
    'http://a.',
  ])('are found in linear time in repetitions of %j', (piece) => {
    const began = process.cpuUsage();
    findLinks(`https://example.com/.${piece.repeat(30_000 / piece.length)}`);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(2000);
  });
});
