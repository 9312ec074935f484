/**
 * Scores of posts, as pure functions of their facts and of the time. Every result lists its factors, so
 * that an agent can see why. A fact that is unknown is left out of the score instead of counting as zero.
 */
import { nfc } from '../text/strings.js';

/** One factor of a score. `score` is null if the fact behind it is unknown. */
interface ScoreFactor {
  readonly factor: string;
  readonly score: number | null;
  readonly max: number;
  readonly detail: string;
}

/** A factor before its score is rounded for the answer. */
interface ExactFactor extends ScoreFactor {
  readonly share: number | undefined;
}

export interface PostFacts {
  readonly text: string;
  readonly authorFollowers?: number | undefined;
  readonly likes?: number | undefined;
  readonly retweets?: number | undefined;
  readonly replies?: number | undefined;
  /** Unix milliseconds. */
  readonly createdAt?: number | undefined;
  readonly hasMedia?: boolean | undefined;
  readonly isQuote?: boolean | undefined;
}

export interface TweetScore {
  /** From 0 to 90, the sum of the maxima. */
  readonly total: number;
  readonly factors: readonly ScoreFactor[];
  readonly matchedKeywords: readonly string[];
  /** Whether facts for at least half of the points are known. */
  readonly isWellKnown: boolean;
}

const MAX = {
  keywords: 25,
  followers: 15,
  recency: 10,
  engagement: 15,
  replies: 15,
  content: 10,
} as const;

export const MAX_SCORE = Object.values(MAX).reduce((sum, max) => sum + max, 0);

/** How much a post is worth a reply. */
export function scoreTweet(
  facts: PostFacts,
  { keywords, now }: { readonly keywords: readonly string[]; readonly now: number },
) {
  const matchedKeywords = matchKeywords(facts.text, keywords);
  const factors = [
    keywordFactor(matchedKeywords, keywords),
    followerFactor(facts.authorFollowers),
    recencyFactor(facts.createdAt, now),
    engagementFactor(facts),
    replyFactor(facts.replies),
    contentFactor(facts),
  ];
  const known = factors.filter(({ share }) => share !== undefined);
  return {
    total: totalOf(known),
    factors: factors.map(({ share: _, ...factor }) => factor),
    matchedKeywords,
    isWellKnown: pointsOf(known) >= MAX_SCORE / 2,
  };
}

/** Unknown factors count like the average of the known ones. */
function totalOf(known: readonly ExactFactor[]): number {
  const possible = pointsOf(known);
  if (possible === 0) return 0;
  const reached = known.reduce((sum, { share = 0, max }) => sum + share * max, 0);
  return rounded((reached / possible) * MAX_SCORE);
}

const pointsOf = (factors: readonly ExactFactor[]): number =>
  factors.reduce((sum, { max }) => sum + max, 0);

const factorOf = (
  factor: keyof typeof MAX,
  share: number | undefined,
  detail: string,
): ExactFactor => {
  const clamped = mapped(share, (value) => clamp(value, 0, 1));
  const score = clamped === undefined ? null : rounded(clamped * MAX[factor]);
  return { factor, score, max: MAX[factor], detail, share: clamped };
};

/** A keyword of several words is more specific. */
const weightOf = (keyword: string): number => (/\s/.test(keyword.trim()) ? 2 : 1);
const weightOfAll = (keywords: readonly string[]): number =>
  keywords.reduce((sum, keyword) => sum + weightOf(keyword), 0);

function keywordFactor(matched: readonly string[], keywords: readonly string[]): ExactFactor {
  const all = distinct(keywords);
  if (all.length === 0) return factorOf('keywords', undefined, 'no keywords are configured');
  const detail = matched.length === 0 ? 'matches no keyword' : `matches ${matched.join(', ')}`;
  return factorOf('keywords', weightOfAll(matched) / weightOfAll(all), detail);
}

/** Accounts with 1,000 to 10,000 followers are read and still answer. */
function followerFactor(followers: number | undefined): ExactFactor {
  return factorOf('followers', mapped(followers, followerShare), count(followers, 'follower'));
}

function followerShare(followers: number): number {
  if (followers < 100) return followers / 200;
  if (followers < 1_000) return 0.5 + (followers - 100) / 1_800;
  if (followers <= 10_000) return 1;
  if (followers <= 100_000) return 1 - (0.75 * (followers - 10_000)) / 90_000;
  return 0.25;
}

const MINUTE_MS = 60_000;

/** Age in minutes and the share that it has; linear in between. */
const recencyCurve: readonly (readonly [minutes: number, share: number])[] = [
  [5, 1],
  [30, 0.8],
  [60, 0.5],
  [360, 0.25],
  [720, 0],
];

function recencyFactor(createdAt: number | undefined, now: number): ExactFactor {
  // A post of the future has a wrong clock, not a negative age.
  const minutes = mapped(createdAt, (at) => Math.max(0, now - at) / MINUTE_MS);
  const detail = minutes === undefined ? 'age unknown' : `${age(minutes)} old`;
  return factorOf('recency', mapped(minutes, recencyShare), detail);
}

function recencyShare(minutes: number): number {
  let [previousAge, previousShare] = [0, 1];
  for (const [atMinutes, share] of recencyCurve) {
    if (minutes <= atMinutes) {
      const part = (minutes - previousAge) / (atMinutes - previousAge);
      return previousShare + part * (share - previousShare);
    }
    [previousAge, previousShare] = [atMinutes, share];
  }
  return 0;
}

/** Reactions per follower at which the factor is full. */
const FULL_ENGAGEMENT = 0.05;

function engagementFactor(facts: PostFacts): ExactFactor {
  const { likes, retweets, replies, authorFollowers } = facts;
  if (
    likes === undefined ||
    retweets === undefined ||
    replies === undefined ||
    authorFollowers === undefined
  ) {
    return factorOf('engagement', undefined, 'reactions or followers unknown');
  }
  const reactions = likes + retweets + replies;
  const rate = reactions / Math.max(authorFollowers, 1);
  const detail = `${count(reactions, 'reaction')} from ${count(authorFollowers, 'follower')}`;
  return factorOf('engagement', rate / FULL_ENGAGEMENT, detail);
}

/** From this many replies on, another one is not noticed. */
const CROWDED = 20;

function replyFactor(replies: number | undefined): ExactFactor {
  const detail = replies === undefined ? 'replies unknown' : plural(replies, 'reply', 'replies');
  return factorOf(
    'replies',
    mapped(replies, (value) => 1 - value / CROWDED),
    detail,
  );
}

function contentFactor({ hasMedia, isQuote }: PostFacts): ExactFactor {
  if (hasMedia === undefined || isQuote === undefined) {
    return factorOf('content', undefined, 'media and quotes unknown');
  }
  const parts = [hasMedia && 'media', isQuote && 'a quote'].filter((part) => part !== false);
  const detail = parts.length === 0 ? 'only text' : `has ${parts.join(' and ')}`;
  return factorOf('content', parts.length === 0 ? 1 : 0, detail);
}

/** Letters and digits of scripts that separate words. The others have no word boundaries to check. */
export const UNSEPARATED =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u;
const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character) && !UNSEPARATED.test(character);

/** The keywords that a text contains as whole words, regardless of case. */
export function matchKeywords(text: string, keywords: readonly string[]): readonly string[] {
  const folded = fold(text);
  return distinct(keywords).filter((keyword) => containsWord(folded, fold(keyword).trim()));
}

function containsWord(text: string, word: string): boolean {
  if (word === '') return false;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    const isCutBefore = isWordCharacter(word[0]) && isWordCharacter(text[at - 1]);
    const isCutAfter = isWordCharacter(word.at(-1)) && isWordCharacter(text[end]);
    if (!isCutBefore && !isCutAfter) return true;
  }
  return false;
}

/** Keywords that differ only in case or spacing are one. */
function distinct(keywords: readonly string[]): readonly string[] {
  const byFolded = new Map(
    keywords.toReversed().map((keyword) => [fold(keyword).trim(), keyword.trim()]),
  );
  byFolded.delete('');
  return [...byFolded.values()].toReversed();
}

const fold = (text: string): string => nfc(text).toLowerCase().replaceAll(/\s+/gu, ' ');

/** What a score suggests. `threshold`: the least score worth a reply. */
type Opportunity = 'strong_reply' | 'consider' | 'skip';

const STRONG_ABOVE_THRESHOLD = 15;

/** A tweet of which little is known is not a strong one, whatever its score. */
export function opportunityOf(
  { total, isWellKnown }: Pick<TweetScore, 'total' | 'isWellKnown'>,
  threshold: number,
): Opportunity {
  if (isWellKnown && total >= threshold + STRONG_ABOVE_THRESHOLD) return 'strong_reply';
  return total >= threshold ? 'consider' : 'skip';
}

const mapped = <Out>(value: number | undefined, map: (value: number) => Out): Out | undefined =>
  value === undefined ? undefined : map(value);

export const clamp = (value: number, low: number, high: number): number =>
  Math.min(Math.max(value, low), high);

/** To two digits, so that answers stay short. */
export const rounded = (value: number): number => Math.round(value * 100) / 100;

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${value} ${value === 1 ? one : many}`;

const count = (value: number | undefined, noun: string): string =>
  value === undefined ? `${noun}s unknown` : plural(value, noun);

function age(minutes: number): string {
  if (minutes < 60) return `${Math.floor(minutes)} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} days`;
}
