import type { Bounds, Count, Names, Operators, Scalar } from '../config.js';
import {
  canonicalHost,
  countCashtags,
  countHashtags,
  countMentions,
  isWithinHosts,
  linkHosts,
} from '../text/entities.js';
import { characters, fold, formatList, glob, MAX_TEXT, quote } from '../text/text.js';
import { matchResult, negate, some, type MatchResult } from './node.js';

export type Test = (value: unknown) => MatchResult;

interface Operator<Operand> {
  /** The JSON types that it accepts; empty for any. */
  readonly types: readonly string[];
  readonly test: (operand: Operand) => Test;
  /** Follows the name of the argument. */
  readonly describe: (operand: Operand) => string;
}

type OperatorTable = {
  readonly [Name in keyof Operators]-?: Operator<NonNullable<Operators[Name]>>;
};

const scalarTypes = ['string', 'number', 'boolean'];

/**
 * `5` and `"5"` differ, but an upstream may treat them as equal, so the result is unknown. An array or
 * an object never equals a scalar.
 */
function isEqual(value: unknown, wanted: Scalar): MatchResult {
  if (value === wanted) return 'yes';
  if (!scalarTypes.includes(typeof value) || typeof value === typeof wanted) return 'no';
  return String(value) === String(wanted) ? 'unknown' : 'no';
}

/** Accepts decimal strings, because APIs often represent amounts as strings. */
export function testRange(value: unknown, bounds: Bounds): MatchResult {
  const amount = typeof value === 'string' ? parseDecimal(value) : value;
  if (typeof amount !== 'number' || !Number.isFinite(amount)) return 'unknown';
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = bounds;
  return matchResult(amount > gt && amount >= gte && amount < lt && amount <= lte);
}

function parseDecimal(text: string): number | undefined {
  return text.length < 400 && /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** `more than 5 and at most 10`. */
export function formatBounds({ gt, gte, lt, lte }: Bounds): string {
  const parts = [
    gt === undefined ? [] : [`more than ${gt}`],
    gte === undefined ? [] : [`at least ${gte}`],
    lt === undefined ? [] : [`less than ${lt}`],
    lte === undefined ? [] : [`at most ${lte}`],
  ];
  return parts.flat().join(' and ');
}

/** Whether the range contains no number of at least `least`. */
export function isEmptyRange(bounds: Bounds, least = -Infinity): boolean {
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = bounds;
  const low = Math.max(least, gt, gte);
  const high = Math.min(lt, lte);
  return low > high || (low === high && (gt === low || lt === high));
}

const oneOf = (wanted: readonly Scalar[]): Test => {
  return (value) => some(wanted, (candidate) => isEqual(value, candidate));
};
const negated = (test: Test): Test => {
  return (value) => negate(test(value));
};

/** A test of a string; numbers are converted, and the result for other types is unknown. */
const ofString = (test: (text: string) => boolean | MatchResult): Test => {
  return (value) => {
    if (!scalarTypes.includes(typeof value)) return 'unknown';
    const text = String(value);
    if (text.length > MAX_TEXT) return 'unknown';
    const result = test(text);
    return typeof result === 'boolean' ? matchResult(result) : result;
  };
};

const bound = (name: keyof Bounds): Operator<number> => ({
  types: ['number', 'string'],
  test: (limit) => (value) => testRange(value, { [name]: limit }),
  describe: (limit) => `is ${formatBounds({ [name]: limit })}`,
});

const countOperator = (
  count: (text: string) => number,
  singular: string,
  plural: string,
): Operator<Count> => ({
  types: ['string'],
  test: (wanted) =>
    ofString((text) => {
      const found = count(text);
      return typeof wanted === 'boolean' ? found > 0 === wanted : testRange(found, wanted);
    }),
  describe: (wanted) => {
    if (typeof wanted === 'boolean') return wanted ? `has a ${singular}` : `has no ${singular}`;
    return `has ${formatBounds(wanted)} ${plural}`;
  },
});

const linkHost = (isWanted: (host: string, hosts: readonly string[]) => boolean, place: string) =>
  ({
    types: ['string'],
    test: (given) => {
      const hosts = given.map(canonicalHost);
      return ofString((text) => linkHosts(text).some((host) => isWanted(host, hosts)));
    },
    describe: (hosts) => `has a link ${place} ${formatList(hosts)}`,
  }) satisfies Operator<readonly string[]>;

/** A case-insensitive test of a string against any of these names. */
const inText = (names: Names, prepare: (wanted: string) => (text: string) => boolean): Test => {
  const tests = [names].flat().map((name) => prepare(fold(name)));
  return ofString((text) => {
    const folded = fold(text);
    return tests.some((test) => test(folded));
  });
};

export const operators: OperatorTable = {
  exists: {
    types: [],
    test: () => () => 'yes',
    describe: (is) => (is ? 'is given' : 'is not given'),
  },
  equals: {
    types: scalarTypes,
    test: (wanted) => oneOf([wanted]),
    describe: (wanted) => `is ${quote(wanted)}`,
  },
  notEquals: {
    types: scalarTypes,
    test: (wanted) => negated(oneOf([wanted])),
    describe: (wanted) => `is not ${quote(wanted)}`,
  },
  in: { types: scalarTypes, test: oneOf, describe: (wanted) => `is ${formatList(wanted)}` },
  notIn: {
    types: scalarTypes,
    test: (wanted) => negated(oneOf(wanted)),
    describe: (wanted) => `is not ${formatList(wanted)}`,
  },
  gt: bound('gt'),
  gte: bound('gte'),
  lt: bound('lt'),
  lte: bound('lte'),
  contains: {
    types: ['string', 'array'],
    test: (names) => {
      const inOne = inText(names, (wanted) => (text) => text.includes(wanted));
      const asItem = oneOf([names].flat());
      return (value) => (Array.isArray(value) ? some(value, asItem) : inOne(value));
    },
    describe: (names) => `contains ${formatList([names].flat())}`,
  },
  matches: {
    types: ['string'],
    test: (names) => inText(names, glob),
    describe: (names) => `matches ${formatList([names].flat())}`,
  },
  length: {
    types: ['string', 'array'],
    test: (bounds) => (value) => {
      if (Array.isArray(value)) return testRange(value.length, bounds);
      return ofString((text) => testRange(characters(text), bounds))(value);
    },
    describe: (bounds) => `has a length of ${formatBounds(bounds)}`,
  },
  links: countOperator((text) => linkHosts(text).length, 'link', 'links'),
  linkHostIn: linkHost(isWithinHosts, 'to'),
  linkHostNotIn: linkHost((host, hosts) => !isWithinHosts(host, hosts), 'to a host other than'),
  mentions: countOperator(countMentions, 'mention', 'mentions'),
  hashtags: countOperator(countHashtags, 'hashtag', 'hashtags'),
  cashtags: countOperator(countCashtags, 'cashtag', 'cashtags'),
};
