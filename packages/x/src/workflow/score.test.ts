import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchKeywords, MAX_SCORE, opportunityOf, scoreTweet, type PostFacts } from './score.js';

const now = Date.UTC(2026, 10, 18, 12);
const keywords = ['rust', 'memory safety', 'async'];
const facts: Required<PostFacts> = {
  text: 'Is memory safety worth it? #Rust says yes.',
  authorFollowers: 5_000,
  likes: 200,
  retweets: 40,
  replies: 10,
  createdAt: now - 5 * 60_000,
  hasMedia: false,
  isQuote: false,
};

const factorsOf = (changed: Partial<PostFacts>) =>
  Object.fromEntries(
    scoreTweet({ ...facts, ...changed }, { keywords, now }).factors.map(({ factor, score }) => [
      factor,
      score,
    ]),
  );

const counts = fc.option(fc.nat(10_000_000), { nil: undefined });
const anyFacts: fc.Arbitrary<PostFacts> = fc.record({
  text: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant(facts.text)),
  authorFollowers: counts,
  likes: counts,
  retweets: counts,
  replies: counts,
  createdAt: fc.option(fc.integer({ min: now - 1e10, max: now + 1e6 }), { nil: undefined }),
  hasMedia: fc.option(fc.boolean(), { nil: undefined }),
  isQuote: fc.option(fc.boolean(), { nil: undefined }),
});
const anyKeywords = fc.array(fc.oneof(fc.string(), fc.constantFrom(...keywords)), { maxLength: 6 });

describe('scoreTweet', () => {
  it('explains a score by its factors', () => {
    const { total, factors, matchedKeywords } = scoreTweet(facts, { keywords, now });
    expect(matchedKeywords).toEqual(['rust', 'memory safety']);
    expect(factors).toEqual([
      { factor: 'keywords', score: 18.75, max: 25, detail: 'matches rust, memory safety' },
      { factor: 'followers', score: 15, max: 15, detail: '5000 followers' },
      { factor: 'recency', score: 10, max: 10, detail: '5 min old' },
      { factor: 'engagement', score: 15, max: 15, detail: '250 reactions from 5000 followers' },
      { factor: 'replies', score: 7.5, max: 15, detail: '10 replies' },
      { factor: 'content', score: 10, max: 10, detail: 'only text' },
    ]);
    expect(total).toBe(76.25);
  });

  it.each([
    [0, 0],
    [50, 3.75],
    [100, 7.5],
    [550, 11.25],
    [1_000, 15],
    [10_000, 15],
    [150, 7.92],
    [1_500, 15],
    [15_000, 14.38],
    [55_000, 9.38],
    [100_000, 3.75],
    [150_000, 3.75],
    [5_000_000, 3.75],
  ])('%d followers score %d', (authorFollowers, score) => {
    expect(factorsOf({ authorFollowers })['followers']).toBe(score);
  });

  it.each([
    [0, 10],
    [2, 10],
    [5, 10],
    [10, 9.6],
    [30, 8],
    [60, 5],
    [210, 3.75],
    [360, 2.5],
    [540, 1.25],
    [720, 0],
    [9_999, 0],
  ])('an age of %d minutes scores %d', (minutes, score) => {
    expect(factorsOf({ createdAt: now - minutes * 60_000 })['recency']).toBe(score);
  });

  it.each([
    [{ hasMedia: true }, 'content', 0],
    [{ isQuote: true }, 'content', 0],
    [{ replies: 0 }, 'replies', 15],
    [{ replies: 20 }, 'replies', 0],
    [{ replies: 5_000 }, 'replies', 0],
    [{ likes: 25, retweets: 0, replies: 0 }, 'engagement', 1.5],
    [{ text: 'nothing of interest' }, 'keywords', 0],
    [{ authorFollowers: 0, likes: 0, retweets: 0, replies: 0 }, 'engagement', 0],
    // An unknown count is not zero.
    [{ likes: undefined }, 'engagement', null],
    [{ retweets: undefined }, 'engagement', null],
    [{ replies: undefined }, 'engagement', null],
    [{ hasMedia: undefined }, 'content', null],
    [{ isQuote: undefined }, 'content', null],
  ])('%o: %s %d', (changed, factor, score) => {
    expect(factorsOf(changed)[factor]).toBe(score);
  });

  it('leaves unknown facts out instead of counting them as zero', () => {
    const unknown = { authorFollowers: undefined, createdAt: undefined };
    const { total, factors } = scoreTweet({ ...facts, ...unknown }, { keywords, now });
    expect(factors.filter(({ score }) => score === null).map(({ factor }) => factor)).toEqual([
      'followers',
      'recency',
      'engagement',
    ]);
    // 36.25 of the 50 points that are known.
    expect(total).toBe(65.25);
  });

  it('is zero if nothing is known', () => {
    const { total, factors } = scoreTweet({ text: 'anything' }, { keywords: [], now });
    expect(factors.map(({ score }) => score)).toEqual(Array(6).fill(null));
    expect(total).toBe(0);
  });

  it('says that a single keyword matches', () => {
    const [first] = scoreTweet({ text: 'async' }, { keywords, now }).factors;
    expect(first).toMatchObject({ score: 6.25, detail: 'matches async' });
  });

  it('stays within its range, and no factor exceeds its maximum', () => {
    fc.assert(
      fc.property(anyFacts, anyKeywords, (given, words) => {
        const { total, factors } = scoreTweet(given, { keywords: words, now });
        expect(total).toBeGreaterThanOrEqual(0);
        expect(total).toBeLessThanOrEqual(MAX_SCORE);
        for (const { score, max, detail } of factors) {
          expect(score ?? 0).toBeGreaterThanOrEqual(0);
          expect(score ?? 0).toBeLessThanOrEqual(max);
          expect(detail).not.toMatch(/undefined|NaN|null/);
        }
      }),
    );
  });

  it('is the sum of its factors if all facts are known', () => {
    const known = fc.record({
      text: fc.constant(facts.text),
      authorFollowers: fc.nat(),
      likes: fc.nat(),
      retweets: fc.nat(),
      replies: fc.nat(100),
      createdAt: fc.integer({ min: now - 1e9, max: now }),
      hasMedia: fc.boolean(),
      isQuote: fc.boolean(),
    });
    fc.assert(
      fc.property(known, (given) => {
        const { total, factors } = scoreTweet(given, { keywords, now });
        const sum = factors.reduce((all, { score }) => all + (score ?? 0), 0);
        expect(total).toBeCloseTo(sum, 1);
      }),
    );
  });

  it('never rises with age or with the number of other replies', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(1e9), fc.nat(200), fc.nat(200), (age, more, few, many) => {
        const recency = (ms: number) => factorsOf({ createdAt: now - ms })['recency']!;
        expect(recency(age + more)).toBeLessThanOrEqual(recency(age));
        const crowd = (replies: number) => factorsOf({ replies })['replies']!;
        expect(crowd(few + many)).toBeLessThanOrEqual(crowd(few));
      }),
    );
  });
});

describe('matchKeywords', () => {
  it.each([
    ['The party starts', ['art'], []],
    ['ART!', ['art'], ['art']],
    ['modern  ART history', ['Art History'], ['Art History']],
    ['#rustlang', ['rust'], []],
    ['c++ and C#', ['C++', 'c#'], ['C++', 'c#']],
    ['東京の天気', ['天気'], ['天気']],
    ['anything', ['', ' '], []],
    ['rust', ['Rust', 'rust', ' RUST '], ['Rust']],
    ['cafe\u0301', ['café'], ['café']],
  ])('%j has of %j %j', (text, words, matched) => {
    expect(matchKeywords(text, words)).toEqual(matched);
  });
});

it.each([
  [75, 60, 'strong_reply'],
  [74.99, 60, 'consider'],
  [60, 60, 'consider'],
  [59.99, 60, 'skip'],
] as const)('a score of %d at a threshold of %d: %s', (total, threshold, action) => {
  expect(opportunityOf({ total, isWellKnown: true }, threshold)).toBe(action);
});

it('is not a strong opportunity because of the one fact that is known', () => {
  const scored = scoreTweet(
    { text: '', hasMedia: false, isQuote: false },
    { keywords: [], now: 0 },
  );
  expect(scored).toMatchObject({ total: 90, isWellKnown: false });
  expect(opportunityOf(scored, 60)).toBe('consider');
});

it('is the sum of exact factors, not of the rounded ones', () => {
  // 25 / 3 and 11.25 of 40 known points.
  const scored = scoreTweet({ text: 'b', replies: 5 }, { keywords: ['b', 'a c'], now: 0 });
  expect(scored.total).toBe(44.06);
});
