import type { Bounds, Count, Names, Operators, Scalar } from '../config/types.js';
import { fold, MAX_TEXT } from '../text/fold.js';
import { glob } from '../text/glob.js';
import { canonicalHost, isHostOf, linkHosts } from '../text/links.js';
import { countCashtags, countHashtags, countMentions } from '../text/marks.js';
import { characters, listWords, quote } from '../text/words.js';
import { boundsWords, isSame, within } from './compare.js';
import { opposite, some, truth, type Truth } from './truth.js';

type Test = (value: unknown) => Truth;

interface Operator<Operand> {
  /** The types of JSON that it can be asked of. */
  readonly of: readonly string[];
  /** Prepares the test of one value. */
  readonly test: (operand: Operand) => Test;
  /** Reads on after the argument's name. */
  readonly words: (operand: Operand) => string;
}

type OperatorTable = {
  readonly [Name in keyof Operators]-?: Operator<NonNullable<Operators[Name]>>;
};

const plainTypes = ['string', 'number', 'boolean'];
const numeric = ['number', 'string'];

const oneOf = (wanted: readonly Scalar[]): Test => {
  return (value) => some(wanted, (one) => isSame(value, one));
};
const negated = (test: Test): Test => {
  return (value) => opposite(test(value));
};

/** A test of a text; numbers are taken as they are written, and what is no text cannot be told. */
const ofText = (test: (text: string) => boolean | Truth): Test => {
  return (value) => {
    const isPlain = plainTypes.includes(typeof value);
    const text = isPlain ? String(value) : undefined;
    if (text === undefined || text.length > MAX_TEXT) return 'unknown';
    const result = test(text);
    return typeof result === 'boolean' ? truth(result) : result;
  };
};

const bound = (name: keyof Bounds): Operator<number> => ({
  of: numeric,
  test: (limit) => (value) => within(value, { [name]: limit }),
  words: (limit) => `is ${boundsWords({ [name]: limit })}`,
});

const counting = (count: (text: string) => number, one: string, many: string): Operator<Count> => ({
  of: ['string'],
  test: (wanted) =>
    ofText((text) => {
      const found = count(text);
      return typeof wanted === 'boolean' ? found > 0 === wanted : within(found, wanted);
    }),
  words: (wanted) => {
    if (typeof wanted === 'boolean') return wanted ? `has a ${one}` : `has no ${one}`;
    return `has ${boundsWords(wanted)} ${many}`;
  },
});

const linkHost = (isWanted: (host: string, hosts: readonly string[]) => boolean, place: string) =>
  ({
    of: ['string'],
    test: (given) => {
      const hosts = given.map(canonicalHost);
      return ofText((text) => linkHosts(text).some((host) => isWanted(host, hosts)));
    },
    words: (hosts) => `has a link ${place} ${listWords(hosts)}`,
  }) satisfies Operator<readonly string[]>;

/** Whether a text, as people compare texts, holds or fits any of these. */
const inText = (names: Names, prepare: (wanted: string) => (text: string) => boolean): Test => {
  const tests = [names].flat().map((name) => prepare(fold(name)));
  return ofText((text) => {
    const folded = fold(text);
    return tests.some((test) => test(folded));
  });
};

export const operators: OperatorTable = {
  exists: { of: [], test: () => () => 'yes', words: (is) => (is ? 'is given' : 'is not given') },
  equals: {
    of: plainTypes,
    test: (wanted) => oneOf([wanted]),
    words: (wanted) => `is ${quote(wanted)}`,
  },
  notEquals: {
    of: plainTypes,
    test: (wanted) => negated(oneOf([wanted])),
    words: (wanted) => `is not ${quote(wanted)}`,
  },
  in: { of: plainTypes, test: oneOf, words: (wanted) => `is ${listWords(wanted)}` },
  notIn: {
    of: plainTypes,
    test: (wanted) => negated(oneOf(wanted)),
    words: (wanted) => `is not ${listWords(wanted)}`,
  },
  gt: bound('gt'),
  gte: bound('gte'),
  lt: bound('lt'),
  lte: bound('lte'),
  contains: {
    of: ['string', 'array'],
    test: (names) => {
      const inOne = inText(names, (wanted) => (text) => text.includes(wanted));
      const asItem = oneOf([names].flat());
      return (value) => (Array.isArray(value) ? some(value, asItem) : inOne(value));
    },
    words: (names) => `contains ${listWords([names].flat())}`,
  },
  matches: {
    of: ['string'],
    test: (names) => inText(names, glob),
    words: (names) => `matches ${listWords([names].flat())}`,
  },
  length: {
    of: ['string', 'array'],
    test: (bounds) => (value) => {
      if (Array.isArray(value)) return within(value.length, bounds);
      return ofText((text) => within(characters(text), bounds))(value);
    },
    words: (bounds) => `has a length of ${boundsWords(bounds)}`,
  },
  links: counting((text) => linkHosts(text).length, 'link', 'links'),
  linkHostIn: linkHost(isHostOf, 'to'),
  linkHostNotIn: linkHost((host, hosts) => !isHostOf(host, hosts), 'to another host than'),
  mentions: counting(countMentions, 'mention', 'mentions'),
  hashtags: counting(countHashtags, 'hashtag', 'hashtags'),
  cashtags: counting(countCashtags, 'cashtag', 'cashtags'),
};
