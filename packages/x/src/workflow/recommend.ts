/**
 * What is known of an author, whether to reply to a post, and which topics work. Pure functions: the
 * caller reads the records and the time. Posts without a measurement are counted apart.
 */
import { nfc, oneLine } from '../text/strings.js';
import { clamp, matchKeywords, plural, rounded, UNSEPARATED } from './score.js';

/** A reply of this account to an author. */
export interface ReplyFacts {
  readonly at: number;
  readonly text: string;
  readonly likes?: number | undefined;
  readonly replies?: number | undefined;
  /** Undefined until it is measured. */
  readonly performance?: number | undefined;
}

interface RiskSignal {
  readonly signal: string;
  readonly severity: 'low' | 'medium' | 'high';
  readonly detail: string;
}

type AuthorSummary = ReturnType<typeof summarizeAuthor>;

const DAY_MS = 86_400_000;
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** `perAuthorLimit`: replies to one author in 24 hours. */
export function summarizeAuthor(
  replies: readonly ReplyFacts[],
  { now, perAuthorLimit }: { readonly now: number; readonly perAuthorLimit: number },
) {
  const times = replies.map(({ at }) => at);
  const today = replies.filter(({ at }) => at > now - DAY_MS).length;
  const measured = replies.filter(isMeasured);
  const answered = measured.filter(isAnswered);
  const rate = measured.length === 0 ? null : rounded(answered.length / measured.length);
  const performances = replies.flatMap(({ performance }) => performance ?? []);
  const isoOf = (at: number | undefined): string | null =>
    at === undefined ? null : new Date(at).toISOString();
  return {
    interactions: {
      replies_sent: replies.length,
      replies_last_day: today,
      first_at: isoOf(times.length === 0 ? undefined : Math.min(...times)),
      last_at: isoOf(times.length === 0 ? undefined : Math.max(...times)),
      active_days: new Set(times.map(dayOf)).size,
    },
    response: {
      measured: measured.length,
      answered: answered.length,
      /** Null without measurements. */
      rate,
      average_performance: meanOf(performances),
    },
    risks: risksOf(replies.length, today, measured.length, rate, perAuthorLimit),
  };
}

const isAnswered = ({ likes = 0, replies = 0 }: ReplyFacts): boolean => likes > 0 || replies > 0;

/** Whether it is known if the reply was answered: an unknown count is not zero. */
const isMeasured = (reply: ReplyFacts): boolean =>
  isAnswered(reply) || (reply.likes !== undefined && reply.replies !== undefined);

const MEASURED_ENOUGH = 3;
const LOW_RESPONSE_RATE = 0.1;

function risksOf(
  sent: number,
  today: number,
  measured: number,
  rate: number | null,
  perAuthorLimit: number,
): readonly RiskSignal[] {
  const risks: RiskSignal[] = [];
  const add = (signal: string, severity: RiskSignal['severity'], detail: string): unknown =>
    risks.push({ signal, severity, detail });
  if (sent > 0 && today >= perAuthorLimit) {
    const detail = `${plural(today, 'reply', 'replies')} in 24 hours; the limit is ${perAuthorLimit}`;
    add('high_frequency', 'high', detail);
  }
  if (rate !== null && measured >= MEASURED_ENOUGH && rate < LOW_RESPONSE_RATE) {
    add('low_response_rate', 'medium', `${percent(rate)} of ${measured} measured replies answered`);
  }
  if (sent > 0 && measured === 0) {
    add('no_measured_performance', 'low', 'no reply to this author was measured yet');
  }
  if (sent === 0) add('no_prior_interaction', 'low', 'this account never replied to the author');
  return risks;
}

export interface RecommendationFacts {
  readonly text: string;
  readonly keywords: readonly string[];
  readonly author: AuthorSummary;
  readonly perAuthorLimit: number;
  readonly repliesToday: number;
  /** Undefined without a limit. */
  readonly repliesPerDay: number | undefined;
  readonly objective?: string | undefined;
  /** Whether the author is on the block list. */
  readonly isBlocked?: boolean;
  /** Whether a reply would wait for an operator. */
  readonly needsApproval: boolean;
}

interface RecommendationFactor {
  readonly factor: string;
  /** From 0 to 100. */
  readonly score: number;
  /** In percent of the total. */
  readonly weight: number;
  readonly detail: string;
}

interface Consideration {
  readonly rule: string;
  readonly effect: 'blocks' | 'warns';
  readonly detail: string;
}

const BLOCKED_CONFIDENCE = 0.95;
const REPLY_FROM = 65;
const OBSERVE_FROM = 40;

/** Whether to reply to a post. A reached limit decides alone, whatever the factors say. */
export function recommendEngagement(facts: RecommendationFacts) {
  const factors = [
    relevance(facts),
    relationship(facts.author),
    frequency(facts),
    capacity(facts),
    alignment(facts),
  ];
  const weights = factors.reduce((sum, { weight }) => sum + weight, 0);
  const total = rounded(
    factors.reduce((sum, { score, weight }) => sum + score * weight, 0) / weights,
  );
  const considerations = considerationsOf(facts);
  const isBlocked = considerations.some(({ effect }) => effect === 'blocks');
  return { ...decide(total, isBlocked), total, factors, considerations };
}

function decide(total: number, isBlocked: boolean) {
  const recommended = (action: 'reply' | 'observe' | 'skip', confidence: number) => {
    return { action, confidence: rounded(confidence) };
  };
  if (isBlocked) return recommended('skip', BLOCKED_CONFIDENCE);
  if (total >= REPLY_FROM) {
    return recommended('reply', clamp(0.5 + (total - REPLY_FROM) / 70, 0.6, 0.95));
  }
  if (total >= OBSERVE_FROM) {
    return recommended('observe', clamp(0.4 + (total - OBSERVE_FROM) / 62.5, 0.4, 0.8));
  }
  return recommended('skip', clamp(0.5 + (OBSERVE_FROM - total) / 80, 0.5, 0.95));
}

function relevance({ text, keywords }: RecommendationFacts): RecommendationFactor {
  const matched = matchKeywords(text, keywords);
  return {
    factor: 'keyword_relevance',
    score: matched.length === 0 ? 10 : Math.min(30 * matched.length, 100),
    weight: 30,
    detail: matched.length === 0 ? 'matches no keyword' : `matches ${matched.join(', ')}`,
  };
}

/** An author whose replies are not measured yet counts like a new one. */
function relationship({ interactions, response }: AuthorSummary): RecommendationFactor {
  const factor = { factor: 'author_relationship', weight: 20 };
  const { rate, measured } = response;
  if (rate === null) {
    const sent = interactions.replies_sent;
    const detail = sent === 0 ? 'no earlier reply' : 'no earlier reply was measured yet';
    return { ...factor, score: 50, detail };
  }
  const score = rate > 0.2 ? 90 : rate > 0 ? 60 : 30;
  return { ...factor, score, detail: `${percent(rate)} of ${measured} measured replies answered` };
}

function frequency({ author, perAuthorLimit }: RecommendationFacts): RecommendationFactor {
  const today = author.interactions.replies_last_day;
  const score = today >= perAuthorLimit ? 0 : today > 0 ? 40 : 100;
  const detail = `${plural(today, 'reply', 'replies')} to the author in 24 hours; the limit is ${perAuthorLimit}`;
  return { factor: 'author_frequency', score, weight: 15, detail };
}

const NEARLY_USED = 0.8;
const isNearlyUsed = ({ repliesToday, repliesPerDay }: RecommendationFacts): boolean =>
  repliesToday > NEARLY_USED * (repliesPerDay ?? Infinity);

function capacity(facts: RecommendationFacts): RecommendationFactor {
  const { repliesToday, repliesPerDay = Infinity } = facts;
  const score = repliesToday >= repliesPerDay ? 0 : isNearlyUsed(facts) ? 30 : 100;
  const detail =
    repliesPerDay === Infinity
      ? 'no limit of replies a day is configured'
      : `${repliesToday} of ${plural(repliesPerDay, 'reply', 'replies')} sent in 24 hours`;
  return { factor: 'daily_capacity', score, weight: 15, detail };
}

/** Shorter words say little about an objective. */
const MIN_WORD = 4;

function alignment({ text, objective }: RecommendationFacts): RecommendationFactor {
  const factor = { factor: 'campaign_alignment', weight: 20 };
  const words = wordsOf(objective ?? '').filter((word) => word.length >= MIN_WORD);
  if (words.length === 0) return { ...factor, score: 50, detail: 'no objective given' };
  const shared = matchKeywords(text, words);
  const score = shared.length >= 3 ? 90 : shared.length > 0 ? 60 : 20;
  const detail =
    shared.length === 0
      ? 'shares no word with the objective'
      : `shares ${shared.join(', ')} with the objective`;
  return { ...factor, score, detail };
}

function considerationsOf(facts: RecommendationFacts): readonly Consideration[] {
  const { author, perAuthorLimit, repliesToday, needsApproval } = facts;
  const { repliesPerDay = Infinity } = facts;
  const found: Consideration[] = [];
  if (facts.isBlocked) {
    const detail = 'the author is on the block list';
    found.push({ rule: 'blocked_author', effect: 'blocks', detail });
  }
  if (author.interactions.replies_last_day >= perAuthorLimit) {
    const detail = `at most ${plural(perAuthorLimit, 'reply', 'replies')} to one author in 24 hours`;
    found.push({ rule: 'per_author_limit', effect: 'blocks', detail });
  }
  if (repliesToday >= repliesPerDay) {
    const detail = `at most ${plural(repliesPerDay, 'reply', 'replies')} in 24 hours`;
    found.push({ rule: 'daily_limit', effect: 'blocks', detail });
  } else if (isNearlyUsed(facts)) {
    const detail = `${repliesToday} of ${plural(repliesPerDay, 'reply', 'replies')} in 24 hours are used`;
    found.push({ rule: 'daily_limit', effect: 'warns', detail });
  }
  if (needsApproval) {
    const detail = 'a reply waits until an operator approves it';
    found.push({ rule: 'approval', effect: 'warns', detail });
  }
  return found;
}

/** A post of this account about a topic. */
export interface TopicPost {
  readonly topic: string;
  readonly text: string;
  /** Undefined until it is measured. */
  readonly performance?: number | undefined;
}

const ENOUGH_POSTS = 3;
const STRONG_RATIO = 1.5;
const WEAK_RATIO = 0.5;
const PREVIEW = 120;

/** Topics by their measured performance, best first; those without measurements last. */
export function summarizeTopics(posts: readonly TopicPost[]) {
  const groups = new Map<string, TopicPost[]>();
  for (const post of posts) {
    const group = groups.get(post.topic);
    if (group) group.push(post);
    else groups.set(post.topic, [post]);
  }
  const overall = meanOf(posts.flatMap(({ performance }) => performance ?? []));
  const topics = [...groups].map(([topic, group]) => topicOf(topic, group, overall));
  const order = ({ average }: (typeof topics)[number]): number => average ?? -1;
  return {
    posts: posts.length,
    measured: posts.filter(({ performance }) => performance !== undefined).length,
    average: overall,
    topics: topics.toSorted((a, b) => order(b) - order(a) || a.topic.localeCompare(b.topic, 'en')),
  };
}

function topicOf(topic: string, posts: readonly TopicPost[], overall: number | null) {
  const measured = posts.flatMap(({ text, performance }) =>
    performance === undefined ? [] : [{ text, performance }],
  );
  const ranked = measured.toSorted((a, b) => b.performance - a.performance);
  const average = meanOf(measured.map(({ performance }) => performance));
  const ratio =
    average === null || overall === null || overall === 0 ? null : rounded(average / overall);
  const [best] = ranked;
  return {
    topic,
    posts: posts.length,
    measured: measured.length,
    /** Null without measurements. */
    average,
    /** The average relative to that of all measured posts. */
    ratio,
    ...adviceOf(measured.length, ratio),
    best: best ? { preview: oneLine(best.text, PREVIEW), performance: best.performance } : null,
    worst_performance: ranked.at(-1)?.performance ?? null,
  };
}

type Advice = 'experiment' | 'double_down' | 'maintain' | 'reduce';

function adviceOf(measured: number, ratio: number | null) {
  const because = (advice: Advice, reason: string) => ({ advice, reason });
  if (measured < ENOUGH_POSTS) {
    const needed = `${ENOUGH_POSTS} are needed for a judgement`;
    return because('experiment', `${plural(measured, 'post')} measured; ${needed}`);
  }
  if (ratio === null) return because('maintain', 'no post had a reaction yet');
  const reason = `${ratio} times the average of all measured posts`;
  if (ratio > STRONG_RATIO) return because('double_down', reason);
  return because(ratio < WEAK_RATIO ? 'reduce' : 'maintain', reason);
}

/** Null for no values. */
function meanOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return rounded(values.reduce((sum, value) => sum + value, 0) / values.length);
}

/** The words of a text in lower case. */
function wordsOf(text: string): readonly string[] {
  return (
    nfc(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** The words of a text; of scripts that do not separate them, pairs of characters. */
const comparedParts = (text: string): readonly string[] =>
  wordsOf(text).flatMap((word) => {
    const characters = Array.from(word);
    if (characters.length < 3 || !UNSEPARATED.test(word)) return [word];
    return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  });

/** Texts with fewer words are too short to compare, unless they are the same. */
const MIN_COMPARED = 5;

/** The share of words that two texts have in common, from 0 to 1; 0 for short texts that differ. */
export function similarity(a: string, b: string): number {
  const [one, other] = [comparedParts(a), comparedParts(b)];
  if (one.length > 0 && one.join(' ') === other.join(' ')) return 1;
  const [first, second] = [new Set(one), new Set(other)];
  if (first.size < MIN_COMPARED || second.size < MIN_COMPARED) return 0;
  const shared = [...first].filter((word) => second.has(word)).length;
  return shared / (first.size + second.size - shared);
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
