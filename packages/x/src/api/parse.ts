import {
  arrayOf,
  compact,
  memberOf,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  type JsonObject,
} from '@toolkeel/pack-kit';
import { unescapeHtml } from '../text/strings.js';
import type { List, Post, User } from '../model.js';

const postFields =
  'created_at,author_id,conversation_id,in_reply_to_user_id,lang,public_metrics,entities,attachments,reply_settings';
const userFields =
  'created_at,description,location,pinned_tweet_id,profile_image_url,protected,public_metrics,url,verified,verified_type';

export type Spelling = 'tweet' | 'post';

export interface FieldQueries {
  readonly posts: Readonly<Record<string, string>>;
  readonly users: Readonly<Record<string, string>>;
  readonly lists: Readonly<Record<string, string>>;
}

/** The query parameters that request the fields of the model. */
export function fieldQueries(spelling: Spelling): FieldQueries {
  const renamed = `referenced_${spelling}s,note_${spelling}`;
  return {
    posts: {
      [`${spelling}.fields`]: `${postFields},${renamed}`,
      expansions: 'author_id,attachments.media_keys,attachments.poll_ids',
      'user.fields': 'username,name,public_metrics',
      'media.fields': 'type,url,alt_text',
      'poll.fields': 'options,duration_minutes,voting_status',
    },
    users: { 'user.fields': userFields },
    lists: {
      'list.fields': 'created_at,description,follower_count,member_count,owner_id,private',
    },
  };
}

/** Members that X is renaming, the older name first. */
const spelled = {
  referenced: ['referenced_tweets', 'referenced_posts'],
  note: ['note_tweet', 'note_post'],
} as const;

const ID = /^[0-9]{1,19}$/;
const METRIC = /^[a-z][a-z_]{0,39}$/;

export function idOf(value: unknown): string | undefined {
  const text = stringOf(value);
  return text !== undefined && ID.test(text) ? text : undefined;
}

/** The authors, media and polls that a response includes beside its posts. */
export interface Includes {
  readonly users: ReadonlyMap<string, JsonObject>;
  readonly media: ReadonlyMap<string, JsonObject>;
  readonly polls: ReadonlyMap<string, JsonObject>;
}

export function readIncludes(doc: JsonObject): Includes {
  const includes = objectOf(doc['includes']);
  const byKey = (name: string, key: string): ReadonlyMap<string, JsonObject> =>
    new Map(
      objectsOf(memberOf(includes, name)).flatMap((one) => {
        const value = stringOf(one[key]);
        return value === undefined ? [] : [[value, one]];
      }),
    );
  return {
    users: byKey('users', 'id'),
    media: byKey('media', 'media_key'),
    polls: byKey('polls', 'id'),
  };
}

/** Undefined for an object that is not a post. */
export function readPost(doc: JsonObject, includes: Includes): Post | undefined {
  const id = idOf(doc['id']);
  const text = fullText(doc);
  if (id === undefined || text === undefined) return undefined;
  const authorId = idOf(doc['author_id']);
  const author = authorId === undefined ? undefined : includes.users.get(authorId);
  return compact({
    id,
    text: unescapeHtml(text),
    author_id: authorId,
    author_username: stringOf(author?.['username']),
    author_followers: metricsOf(author?.['public_metrics'])?.['followers_count'],
    created_at: stringOf(doc['created_at']),
    conversation_id: idOf(doc['conversation_id']),
    in_reply_to_user_id: idOf(doc['in_reply_to_user_id']),
    lang: stringOf(doc['lang']),
    reply_settings: stringOf(doc['reply_settings']),
    referenced_tweets: nonEmpty(referencesOf(doc)),
    urls: nonEmpty(urlsOf(doc)),
    media: nonEmpty(mediaOf(doc, includes)),
    poll: pollOf(doc, includes),
    public_metrics: metricsOf(doc['public_metrics']),
  }) as Post;
}

/** A long post has its beginning in `text` and its full text in a note. */
function fullText(doc: JsonObject): string | undefined {
  const note = objectOf(memberOf(doc, ...spelled.note));
  return stringOf(note?.['text']) ?? stringOf(doc['text']);
}

function referencesOf(doc: JsonObject) {
  return objectsOf(memberOf(doc, ...spelled.referenced)).flatMap((reference) => {
    const type = stringOf(reference['type']);
    const id = idOf(reference['id']);
    return type !== undefined && id !== undefined ? [{ type, id }] : [];
  });
}

/** The links of a post and its note: the short URL that X shows, and the original. */
function urlsOf(doc: JsonObject) {
  const note = objectOf(memberOf(doc, ...spelled.note));
  const places = [objectOf(doc['entities']), objectOf(note?.['entities'])];
  const all = places.flatMap((entities) =>
    objectsOf(entities?.['urls']).flatMap((one) => {
      const url = stringOf(one['url']);
      const expanded = stringOf(one['expanded_url']);
      return url !== undefined && expanded !== undefined ? [{ url, expanded_url: expanded }] : [];
    }),
  );
  return [...new Map(all.map((one) => [one.url, one])).values()];
}

function mediaOf(doc: JsonObject, { media }: Includes) {
  const keys = objectOf(doc['attachments'])?.['media_keys'];
  return arrayOf(keys).flatMap((key) => {
    const mediaKey = stringOf(key);
    if (mediaKey === undefined) return [];
    const one = media.get(mediaKey);
    return [
      compact({
        media_key: mediaKey,
        type: stringOf(one?.['type']),
        url: stringOf(one?.['url']),
        alt_text: stringOf(one?.['alt_text']),
      }),
    ];
  });
}

/** A post has at most one poll, which X may name without including it. */
function pollOf(doc: JsonObject, { polls }: Includes) {
  const [id] = arrayOf(objectOf(doc['attachments'])?.['poll_ids']).map(stringOf);
  if (id === undefined) return undefined;
  const poll = polls.get(id);
  const options = objectsOf(poll?.['options']).flatMap(({ label, votes }) => {
    const text = stringOf(label);
    return text === undefined
      ? []
      : [compact({ label: unescapeHtml(text), votes: numberOf(votes) })];
  });
  return compact({
    options,
    duration_minutes: numberOf(poll?.['duration_minutes']),
    voting_status: stringOf(poll?.['voting_status']),
  });
}

function metricsOf(value: unknown): Record<string, number> | undefined {
  const entries = Object.entries(objectOf(value) ?? {}).flatMap(([name, given]) => {
    const number = numberOf(given);
    return number !== undefined && METRIC.test(name) ? [[name, number] as const] : [];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Undefined for an object that is not a user. */
export function readUser(doc: JsonObject): User | undefined {
  const id = idOf(doc['id']);
  const username = stringOf(doc['username']);
  if (id === undefined || username === undefined) return undefined;
  return compact({
    id,
    username,
    name: stringOf(doc['name']),
    created_at: stringOf(doc['created_at']),
    description: stringOf(doc['description']),
    location: stringOf(doc['location']),
    url: stringOf(doc['url']),
    profile_image_url: stringOf(doc['profile_image_url']),
    pinned_tweet_id: idOf(doc['pinned_tweet_id']) ?? idOf(doc['pinned_post_id']),
    protected: booleanOf(doc['protected']),
    verified: booleanOf(doc['verified']),
    verified_type: stringOf(doc['verified_type']),
    public_metrics: metricsOf(doc['public_metrics']),
  });
}

/** Undefined for an object that is not a list. */
export function readList(doc: JsonObject): List | undefined {
  const id = idOf(doc['id']);
  const name = stringOf(doc['name']);
  if (id === undefined || name === undefined) return undefined;
  return compact({
    id,
    name,
    description: stringOf(doc['description']),
    owner_id: idOf(doc['owner_id']),
    private: booleanOf(doc['private']),
    created_at: stringOf(doc['created_at']),
    follower_count: numberOf(doc['follower_count']),
    member_count: numberOf(doc['member_count']),
  });
}

function booleanOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}
