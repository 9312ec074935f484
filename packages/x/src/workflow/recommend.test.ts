import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  recommendEngagement,
  similarity,
  summarizeAuthor,
  summarizeTopics,
  type RecommendationFacts,
  type ReplyFacts,
} from './recommend.js';

const now = Date.UTC(2026, 10, 18, 12);
const DAY = 86_400_000;
const limits = { now, perAuthorLimit: 1 };

const reply = (daysAgo: number, measured: Partial<ReplyFacts> = {}): ReplyFacts => ({
  at: now - daysAgo * DAY,
  text: 'a reply',
  ...measured,
});
const silent = { likes: 0, replies: 0, performance: 0 };
const liked = { likes: 2, replies: 0, performance: 6 };

describe('summarizeAuthor', () => {
  it('describes an author that this account never replied to', () => {
    expect(summarizeAuthor([], limits)).toEqual({
      interactions: {
        replies_sent: 0,
        replies_last_day: 0,
        first_at: null,
        last_at: null,
        active_days: 0,
      },
      response: { measured: 0, answered: 0, rate: null, average_performance: null },
      risks: [expect.objectContaining({ signal: 'no_prior_interaction', severity: 'low' })],
    });
  });

  it('counts measured replies only in the response rate', () => {
    const replies = [reply(3, liked), reply(2, silent), reply(1), reply(1)];
    expect(summarizeAuthor(replies, limits)).toMatchObject({
      interactions: { replies_sent: 4, replies_last_day: 0, active_days: 3 },
      response: { measured: 2, answered: 1, rate: 0.5, average_performance: 3 },
      risks: [],
    });
  });

  it.each([
    [[reply(0)], ['high_frequency', 'no_measured_performance']],
    [[reply(1, silent), reply(2, silent), reply(3, silent)], ['low_response_rate']],
    [[reply(1, silent), reply(2, silent)], []],
    [[reply(2)], ['no_measured_performance']],
  ])('warns: case %#', (replies, signals) => {
    expect(summarizeAuthor(replies, limits).risks.map(({ signal }) => signal)).toEqual(signals);
  });
});

const facts: RecommendationFacts = {
  text: 'Which async runtime do you recommend for embedded Rust?',
  keywords: ['rust', 'async', 'embedded'],
  author: summarizeAuthor([reply(3, liked)], limits),
  perAuthorLimit: 1,
  repliesToday: 0,
  repliesPerDay: 5,
  objective: 'Embedded developers choose our async runtime',
  needsApproval: false,
};

describe('recommendEngagement', () => {
  it('explains a recommendation by its factors', () => {
    expect(recommendEngagement(facts)).toEqual({
      action: 'reply',
      confidence: 0.9,
      total: 93,
      factors: [
        {
          factor: 'keyword_relevance',
          score: 90,
          weight: 30,
          detail: 'matches rust, async, embedded',
        },
        {
          factor: 'author_relationship',
          score: 90,
          weight: 20,
          detail: '100 % of 1 measured replies answered',
        },
        {
          factor: 'author_frequency',
          score: 100,
          weight: 15,
          detail: '0 replies to the author in 24 hours; the limit is 1',
        },
        {
          factor: 'daily_capacity',
          score: 100,
          weight: 15,
          detail: '0 of 5 replies sent in 24 hours',
        },
        {
          factor: 'campaign_alignment',
          score: 90,
          weight: 20,
          detail: 'shares embedded, async, runtime with the objective',
        },
      ],
      considerations: [],
    });
  });

  it.each([
    ['per_author_limit', { author: summarizeAuthor([reply(0)], limits) }],
    ['daily_limit', { repliesToday: 5 }],
  ])('skips when the %s is reached', (rule, changed) => {
    expect(recommendEngagement({ ...facts, ...changed })).toMatchObject({
      action: 'skip',
      confidence: 0.95,
      considerations: [{ rule, effect: 'blocks' }],
    });
  });

  it('warns of an approval and of a nearly used limit', () => {
    const near = recommendEngagement({
      ...facts,
      repliesToday: 9,
      repliesPerDay: 10,
      needsApproval: true,
    });
    expect(near).toMatchObject({
      action: 'reply',
      considerations: [
        { rule: 'daily_limit', effect: 'warns' },
        { rule: 'approval', effect: 'warns' },
      ],
    });
  });

  it('has capacity where no limit is configured', () => {
    const open = recommendEngagement({ ...facts, repliesToday: 500, repliesPerDay: undefined });
    expect(open).toMatchObject({ action: 'reply', considerations: [] });
  });

  it('observes or skips what is less relevant', () => {
    const stranger = { author: summarizeAuthor([], limits), keywords: ['gardening'] };
    expect(recommendEngagement({ ...facts, ...stranger, objective: undefined })).toMatchObject({
      action: 'observe',
      total: 53,
      confidence: 0.61,
    });
    expect(
      recommendEngagement({
        ...facts,
        keywords: [],
        author: summarizeAuthor([reply(1, silent)], limits),
        objective: 'Grow tomatoes',
        repliesToday: 9,
        repliesPerDay: 10,
      }),
    ).toMatchObject({ action: 'skip', total: 32.5, confidence: 0.59 });
  });

  it('has a bounded confidence, and never recommends a reply that a limit blocks', () => {
    const replies = fc.array(
      fc.record({
        at: fc.integer({ min: now - 30 * DAY, max: now }),
        text: fc.string(),
        likes: fc.option(fc.nat(50), { nil: undefined }),
        performance: fc.option(fc.nat(500), { nil: undefined }),
      }),
    );
    fc.assert(
      fc.property(
        replies,
        fc.nat(4),
        fc.nat(10),
        fc.option(fc.nat(10), { nil: undefined }),
        fc.option(fc.string(), { nil: undefined }),
        (sent, perAuthorLimit, repliesToday, repliesPerDay, objective) => {
          const author = summarizeAuthor(sent, { now, perAuthorLimit });
          const given = { ...facts, author, perAuthorLimit, repliesToday, repliesPerDay };
          const { action, confidence, total, factors } = recommendEngagement({
            ...given,
            objective,
          });
          expect(confidence).toBeGreaterThanOrEqual(0.4);
          expect(confidence).toBeLessThanOrEqual(0.95);
          expect(total).toBeGreaterThanOrEqual(0);
          expect(total).toBeLessThanOrEqual(100);
          expect(factors.reduce((sum, { weight }) => sum + weight, 0)).toBe(100);
          const today = author.interactions.replies_last_day;
          if (repliesToday >= (repliesPerDay ?? Infinity) || today >= perAuthorLimit)
            expect(action).toBe('skip');
        },
      ),
    );
  });
});

describe('summarizeTopics', () => {
  const posts = (topic: string, ...performances: readonly (number | undefined)[]) =>
    performances.map((performance, index) => ({ topic, text: `${topic} ${index}`, performance }));

  it('ranks topics by their measured performance', () => {
    const { topics, average } = summarizeTopics([
      ...posts('tips', 90, 110, 100),
      ...posts('news', 10, 10, 10),
      ...posts('memes', 40, 60, 50, undefined),
      ...posts('ideas', 200, undefined, undefined),
      ...posts('plans', undefined),
    ]);
    expect(average).toBe(68);
    expect(topics.map(({ topic, ratio, advice }) => [topic, ratio, advice])).toEqual([
      ['ideas', 2.94, 'experiment'],
      ['tips', 1.47, 'maintain'],
      ['memes', 0.74, 'maintain'],
      ['news', 0.15, 'reduce'],
      ['plans', null, 'experiment'],
    ]);
    expect(topics[1]).toMatchObject({
      posts: 3,
      measured: 3,
      average: 100,
      best: { preview: 'tips 1', performance: 110 },
      worst_performance: 90,
    });
  });

  it('advises to double down on a strong topic', () => {
    const { topics } = summarizeTopics([...posts('a', 90, 90, 90), ...posts('b', 10, 10, 10)]);
    expect(topics[0]).toMatchObject({ advice: 'double_down', ratio: 1.8 });
  });

  it('is not changed by posts that are not measured', () => {
    const topic = fc.constantFrom('a', 'b', 'c');
    const measured = fc.array(fc.record({ topic, text: fc.string(), performance: fc.nat(1000) }));
    const unmeasured = fc.array(fc.record({ topic, text: fc.string() }));
    fc.assert(
      fc.property(measured, unmeasured, (some, more) => {
        const judged = (all: Parameters<typeof summarizeTopics>[0]) => {
          const { average, topics } = summarizeTopics(all);
          const known = topics.filter((one) => one.measured > 0);
          return [average, known.map(({ posts: _, ...rest }) => rest)];
        };
        expect(judged([...some, ...more])).toEqual(judged(some));
      }),
    );
  });

  it('has no advice to reduce where no post had a reaction', () => {
    expect(summarizeTopics(posts('a', 0, 0, 0)).topics[0]).toMatchObject({
      advice: 'maintain',
      ratio: null,
    });
  });
});

describe('similarity', () => {
  it.each([
    ['one two three four five', 'Five, four: three two ONE!', 1],
    ['one two three four five', 'one two three four six', 4 / 6],
    ['too short', 'too short', 0],
  ])('%j and %j: %d', (a, b, expected) => {
    expect(similarity(a, b)).toBeCloseTo(expected);
  });

  it('is symmetric and between 0 and 1', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'))
      .map((words) => words.join(' '));
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(similarity(a, b)).toBe(similarity(b, a));
        expect(similarity(a, b)).toBeLessThanOrEqual(1);
      }),
    );
  });
});
