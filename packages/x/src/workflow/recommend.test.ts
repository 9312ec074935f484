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

  it('tells the first and the last time, and counts days instead of replies', () => {
    const replies = [reply(2), reply(3), reply(3 + 1 / 24), reply(33)];
    expect(summarizeAuthor(replies, limits).interactions).toMatchObject({
      replies_sent: 4,
      first_at: '2026-10-16T12:00:00.000Z',
      last_at: '2026-11-16T12:00:00.000Z',
      active_days: 3,
    });
  });

  it('counts a single answer, and no risk from a tenth of the replies on', () => {
    const answered = reply(2, { likes: 0, replies: 1 });
    const unanswered = (count: number) => Array.from({ length: count }, () => reply(3, silent));
    const tenth = summarizeAuthor([answered, ...unanswered(9)], limits);
    expect(tenth).toMatchObject({ response: { answered: 1, rate: 0.1 }, risks: [] });
    const less = summarizeAuthor([answered, ...unanswered(19)], limits);
    expect(less.risks).toMatchObject([{ signal: 'low_response_rate' }]);
  });

  it('does not count a reply as unanswered while its likes or replies are unknown', () => {
    const replies = [
      reply(1, { likes: 0 }),
      reply(2, { replies: 0 }),
      reply(3, { likes: 1 }),
      reply(4, { likes: 0, replies: 0 }),
    ];
    expect(summarizeAuthor(replies, limits).response).toEqual({
      measured: 2,
      answered: 1,
      rate: 0.5,
      average_performance: null,
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

  const factorOf = (name: string, changed: Partial<RecommendationFacts>) =>
    recommendEngagement({ ...facts, ...changed }).factors.find(({ factor }) => factor === name);

  it.each([
    ['keyword_relevance', { keywords: ['rust'] }, 30, 'matches rust'],
    [
      'keyword_relevance',
      { keywords: ['which', 'async', 'runtime', 'embedded', 'rust'] },
      100,
      'matches which, async, runtime, embedded, rust',
    ],
    ['author_relationship', { author: summarizeAuthor([], limits) }, 50, 'no earlier reply'],
    [
      'author_relationship',
      { author: summarizeAuthor([reply(2)], limits) },
      50,
      'no earlier reply was measured yet',
    ],
    [
      'author_relationship',
      {
        author: summarizeAuthor(
          [liked, silent, silent, silent, silent].map((one) => reply(2, one)),
          limits,
        ),
      },
      60,
      '20 % of 5 measured replies answered',
    ],
    [
      'author_relationship',
      { author: summarizeAuthor([reply(2, silent)], limits) },
      30,
      '0 % of 1 measured replies answered',
    ],
    [
      'author_frequency',
      { author: summarizeAuthor([reply(0)], limits), perAuthorLimit: 2 },
      40,
      '1 reply to the author in 24 hours; the limit is 2',
    ],
    ['daily_capacity', { repliesToday: 4 }, 100, '4 of 5 replies sent in 24 hours'],
    [
      'daily_capacity',
      { repliesToday: 9, repliesPerDay: 10 },
      30,
      '9 of 10 replies sent in 24 hours',
    ],
    ['daily_capacity', { repliesToday: 5 }, 0, '5 of 5 replies sent in 24 hours'],
    ['campaign_alignment', { objective: 'async for all' }, 60, 'shares async with the objective'],
    ['campaign_alignment', { objective: 'for you' }, 50, 'no objective given'],
    ['campaign_alignment', { objective: 'tomatoes' }, 20, 'shares no word with the objective'],
  ] as const)('%s of %o is %d', (name, changed, score, detail) => {
    expect(factorOf(name, changed)).toMatchObject({ score, detail });
  });

  it('replies from 65 and observes from 40', () => {
    // Relevance 30 %, relationship 20 %, frequency and capacity 15 % each, objective 20 %.
    const at = (keywords: readonly string[], changed: Partial<RecommendationFacts>) =>
      recommendEngagement({
        ...facts,
        keywords,
        author: summarizeAuthor([], limits),
        objective: undefined,
        ...changed,
      });
    const text = 'one two three four';
    expect(at(['one', 'two'], { text })).toMatchObject({
      total: 68,
      action: 'reply',
      confidence: 0.6,
    });
    expect(at(['one'], { text, objective: 'three four' })).toMatchObject({
      total: 61,
      action: 'observe',
    });
    expect(at(['one', 'two', 'three', 'four'], { text, objective: 'one more' })).toMatchObject({
      total: 74,
      action: 'reply',
      confidence: 0.63,
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
    ['too short', 'too brief', 0],
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

it.each([
  ['Thank you!', 'thank you', 1],
  ['Thank you', 'Thanks a lot', 0],
  ['自転車のブレーキは雨の日に効きません', '自転車のブレーキは雨の日に効きません。', 1],
  ['', '', 0],
])('texts that are short or without spaces: %j and %j have %d in common', (a, b, share) => {
  expect(similarity(a, b)).toBe(share);
});

it('finds one changed character in a text without spaces', () => {
  const text = '自転車のブレーキは雨の日に全く効きません';
  expect(similarity(text, `${text}よ`)).toBeGreaterThan(0.8);
  expect(similarity(text, '新しい自転車を買いました、とても速いです')).toBeLessThan(0.5);
});
