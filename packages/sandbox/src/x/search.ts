import { invalid } from './problems.js';
import type { World } from './world/world.js';
import { referenceOf, type Post } from './world/records.js';

interface Parsed {
  readonly test: Test;
  /** Whether it contains a standalone clause. */
  readonly standsAlone: boolean;
}

function wrong(query: string, why: string): Error {
  return invalid(`There were errors processing your request: ${why}`, { query: [query] });
}

const MAX_DEPTH = 20;

/** Compiles a search query. A space means AND and binds more tightly than OR. */
export function parseQuery(query: string, world: World): Test {
  const { list, stray } = tokens(query);
  if (stray !== undefined)
    throw wrong(
      query,
      `no viable alternative at character '${query[stray - 1] ?? ''}' (at position ${stray})`,
    );
  let next = 0;
  const peek = (): Token => list[next] ?? { kind: 'end', at: query.length + 1 };

  const either = (depth: number): Parsed => {
    const sides = [all(depth)];
    while (peek().kind === 'or') {
      next += 1;
      sides.push(all(depth));
    }
    return {
      test: (post) => sides.some(({ test }) => test(post)),
      standsAlone: sides.every(({ standsAlone }) => standsAlone),
    };
  };
  const all = (depth: number): Parsed => {
    const parts = [one(depth)];
    while (peek().kind === 'clause' || peek().kind === 'open') parts.push(one(depth));
    return {
      test: (post) => parts.every(({ test }) => test(post)),
      standsAlone: parts.some(({ standsAlone }) => standsAlone),
    };
  };
  const one = (depth: number): Parsed => {
    const token = peek();
    next += 1;
    if (token.kind === 'clause') return clause(token);
    if (token.kind !== 'open' || depth > MAX_DEPTH)
      throw wrong(query, `mismatched input (at position ${token.at})`);
    const inner = either(depth + 1);
    const end = peek();
    if (end.kind !== 'close') throw wrong(query, `missing ')' (at position ${end.at})`);
    next += 1;
    return inner;
  };
  const clause = ({ text, negated, at }: Token & { kind: 'clause' }): Parsed => {
    if (/^(?:and|or)$/i.test(text))
      throw wrong(
        query,
        `Ambiguous use of ${text.toLowerCase()} as a keyword. Use a space to logically join two clauses, or "${text.toLowerCase()}" to find occurrences of ${text.toLowerCase()} in text (at position ${at})`,
      );
    const known: Clause | undefined = clauseFrom(text, world);
    if (!known)
      throw wrong(
        query,
        `Reference to invalid operator '${text.split(':')[0] ?? ''}'. Operator is not available in current product or product packaging. (at position ${at})`,
      );
    if (!negated) return known;
    return { test: (post) => !known.test(post), standsAlone: false };
  };

  const { test, standsAlone } = either(0);
  if (peek().kind !== 'end') throw wrong(query, `extraneous input ')' (at position ${peek().at})`);
  if (!standsAlone)
    throw wrong(
      query,
      'Rules must contain at least one positive, non-stopword clause (at position 1)',
    );
  return test;
}

type Test = (post: Post) => boolean;

interface Clause {
  readonly test: Test;
  /** Whether the clause can be used without others. */
  readonly standsAlone: boolean;
}

type Operator = (value: string, world: World) => Test | undefined;

const refers =
  (type: 'replied_to' | 'quoted' | 'retweeted'): Test =>
  (post) =>
    referenceOf(post, type) !== undefined;

const authorIs =
  (value: string, world: World, idOf: (post: Post) => string | undefined): Test =>
  (post) => {
    const name = value.replace(/^@/, '');
    return idOf(post) === (world.userNamed(name)?.id ?? name);
  };

const kinds: Readonly<Record<string, Test>> = {
  retweet: refers('retweeted'),
  reply: refers('replied_to'),
  quote: refers('quoted'),
  verified: () => false,
};

const contents: Readonly<Record<string, Test>> = {
  links: ({ entities }) => (entities.urls?.length ?? 0) > 0,
  mentions: ({ entities }) => (entities.mentions?.length ?? 0) > 0,
  hashtags: ({ entities }) => (entities.hashtags?.length ?? 0) > 0,
  cashtags: ({ entities }) => (entities.cashtags?.length ?? 0) > 0,
  media: ({ mediaKeys }) => mediaKeys.length > 0,
  images: ({ mediaKeys }) => mediaKeys.some((key) => key.startsWith('3_')),
  video_link: ({ mediaKeys }) => mediaKeys.some((key) => key.startsWith('7_')),
};

const namedTest = (table: Readonly<Record<string, Test>>, value: string): Test | undefined =>
  Object.hasOwn(table, value) ? table[value] : undefined;

const operators: Readonly<Record<string, Operator>> = {
  from: (value, world) => authorIs(value, world, ({ authorId }) => authorId),
  to: (value, world) => authorIs(value, world, ({ inReplyToUserId }) => inReplyToUserId),
  retweets_of: (value, world) =>
    authorIs(value, world, (post) => {
      const id = referenceOf(post, 'retweeted');
      return id === undefined ? undefined : world.posts.get(id)?.authorId;
    }),
  conversation_id: (value) => (post) => post.conversationId === value,
  in_reply_to_tweet_id: (value) => (post) => referenceOf(post, 'replied_to') === value,
  quotes_of_tweet_id: (value) => (post) => referenceOf(post, 'quoted') === value,
  url:
    (value) =>
    ({ entities }) =>
      entities.urls?.some(({ expanded_url }) => expanded_url.includes(value)) ?? false,
  lang: (value) => (post) => post.lang === value,
  is: (value) => namedTest(kinds, value),
  has: (value) => namedTest(contents, value),
};

const narrowing = new Set(['is', 'has', 'lang']);

/** Compiles a clause; undefined for an unknown operator. */
function clauseFrom(text: string, world: World): Clause | undefined {
  const [, name, rest = ''] = /^([a-z_]+):(.+)$/s.exec(text) ?? [];
  if (name !== undefined && !/^https?$/.test(name)) {
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    const test = operator?.(unquoted(rest), world);
    return test && { test, standsAlone: !narrowing.has(name) };
  }
  return { test: wordTest(text), standsAlone: true };
}

function wordTest(text: string): Test {
  if (text.startsWith('#')) return tagged('hashtags', text.slice(1));
  if (/^\$[A-Za-z]/.test(text)) return tagged('cashtags', text.slice(1));
  if (/^@\w/.test(text)) return mentioning(text.slice(1));
  const wanted = ` ${plain(unquoted(text))} `;
  return (post) => ` ${plain(post.note?.text ?? post.text)} `.includes(wanted);
}

function tagged(kind: 'hashtags' | 'cashtags', tag: string): Test {
  return ({ entities }) =>
    entities[kind]?.some((entity) => entity.tag.toLowerCase() === tag.toLowerCase()) ?? false;
}

function mentioning(name: string): Test {
  return ({ entities }) =>
    entities.mentions?.some(({ username }) => username.toLowerCase() === name.toLowerCase()) ??
    false;
}

const unquoted = (text: string): string => text.replace(/^"(.*)"$/s, '$1').replaceAll('\\"', '"');

/** Normalizes text: search ignores case and punctuation. */
const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/&(?:amp|lt|gt);/g, ' ')
    .replaceAll(/[^\p{L}\p{N}_]+/gu, ' ')
    .trim();

/** A token of a search query, and its position counted from 1. */
type Token =
  | { readonly kind: 'open' | 'close' | 'or' | 'end'; readonly at: number }
  | {
      readonly kind: 'clause';
      readonly negated: boolean;
      readonly text: string;
      readonly at: number;
    };

const piece =
  /\s+|(?<open>-?\()|(?<close>\))|(?<clause>-?(?:[a-z_]+:)?(?:"(?:[^"\\]|\\.)*"|[^\s()"]+))|(?<stray>[^])/gy;

/** Splits a query into tokens, up to the position of an invalid character. */
function tokens(query: string): { readonly list: Token[]; readonly stray?: number } {
  const list: Token[] = [];
  for (const match of query.matchAll(piece)) {
    const { open, close, clause, stray } = match.groups ?? {};
    const at = match.index + 1;
    if (stray !== undefined || open === '-(') return { list, stray: at };
    if (open) list.push({ kind: 'open', at });
    if (close) list.push({ kind: 'close', at });
    if (clause === 'OR') list.push({ kind: 'or', at });
    else if (clause !== undefined) {
      const negated = clause.startsWith('-') && clause.length > 1;
      list.push({ kind: 'clause', negated, text: negated ? clause.slice(1) : clause, at });
    }
  }
  list.push({ kind: 'end', at: query.length + 1 });
  return { list };
}
