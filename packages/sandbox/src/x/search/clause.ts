import { referenceOf, type Post } from '../world/things.js';
import type { World } from '../world/world.js';

export type Test = (post: Post) => boolean;

export interface Clause {
  readonly test: Test;
  /** Can it stand alone, or does it only narrow what others find? */
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

const named = (table: Readonly<Record<string, Test>>, value: string): Test | undefined =>
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
  is: (value) => named(kinds, value),
  has: (value) => named(contents, value),
};

const narrowing = new Set(['is', 'has', 'lang']);

/** The test that a clause is; nothing for an operator that is not known. */
export function clauseFrom(text: string, world: World): Clause | undefined {
  const [, name, rest = ''] = /^([a-z_]+):(.+)$/s.exec(text) ?? [];
  if (name !== undefined && !/^https?$/.test(name)) {
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    const test = operator?.(unquoted(rest), world);
    return test && { test, standsAlone: !narrowing.has(name) };
  }
  return { test: words(text), standsAlone: true };
}

function words(text: string): Test {
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

/** Words alone: search knows neither case nor punctuation. */
const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/&(?:amp|lt|gt);/g, ' ')
    .replaceAll(/[^\p{L}\p{N}_]+/gu, ' ')
    .trim();
