import { invalid } from './problems.js';
import type { World } from './world/world.js';
import { referenceOf, type Post } from './world/records.js';

type Test = (post: Post) => boolean;

interface Clause {
  readonly test: Test;
  /** Whether the clause can be used without others. */
  readonly standsAlone: boolean;
}

const MAX_DEPTH = 20;

/** Parentheses, clauses, or any other character, which is invalid. */
const PIECE = /-?\(|\)|-?(?:[a-z_]+:)?(?:"(?:[^"\\]|\\.)*"|[^\s()"]+)|\S/g;

/** Compiles a search query. A space means AND and binds more tightly than OR. */
export function parseQuery(query: string, world: World): Test {
  const tokens = [...query.matchAll(PIECE)].map(({ 0: text, index }) => ({ text, at: index + 1 }));
  let next = 0;
  const peek = () => tokens[next] ?? { text: '', at: query.length + 1 };
  const takes = (text: string): boolean => {
    const isNext = peek().text === text;
    if (isNext) next += 1;
    return isNext;
  };
  const wrong = (why: string, at = peek().at): Error =>
    invalid(`There were errors processing your request: ${why} (at position ${at})`, {
      query: [query],
    });
  const stray = tokens.find(({ text }) => text === '-(' || text === '"');
  if (stray) throw wrong(`no viable alternative at character '${stray.text}'`, stray.at);

  const either = (depth: number): Clause => {
    const sides = [all(depth)];
    while (takes('OR')) sides.push(all(depth));
    return {
      test: (post) => sides.some(({ test }) => test(post)),
      standsAlone: sides.every(({ standsAlone }) => standsAlone),
    };
  };
  const all = (depth: number): Clause => {
    const parts = [one(depth)];
    while (!['', ')', 'OR'].includes(peek().text)) parts.push(one(depth));
    return {
      test: (post) => parts.every(({ test }) => test(post)),
      standsAlone: parts.some(({ standsAlone }) => standsAlone),
    };
  };
  const one = (depth: number): Clause => {
    const { text, at } = peek();
    if (['', ')', 'OR'].includes(text) || depth > MAX_DEPTH) throw wrong('mismatched input');
    next += 1;
    if (text !== '(') return clause(text, at);
    const inner = either(depth + 1);
    if (!takes(')')) throw wrong("missing ')'");
    return inner;
  };
  const clause = (text: string, at: number): Clause => {
    const negated = text.startsWith('-') && text.length > 1;
    const positive = negated ? text.slice(1) : text;
    const word = positive.toLowerCase();
    if (word === 'and' || word === 'or')
      throw wrong(
        `Ambiguous use of ${word} as a keyword. Use a space to logically join two clauses, or "${word}" to find occurrences of ${word} in text`,
        at,
      );
    const known = clauseFrom(positive, world);
    if (!known)
      throw wrong(
        `Reference to invalid operator '${positive.split(':')[0] ?? ''}'. Operator is not available in current product or product packaging.`,
        at,
      );
    return negated ? { test: (post) => !known.test(post), standsAlone: false } : known;
  };

  const { test, standsAlone } = either(0);
  if (peek().text !== '') throw wrong("extraneous input ')'");
  if (!standsAlone) throw wrong('Rules must contain at least one positive, non-stopword clause', 1);
  return test;
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
