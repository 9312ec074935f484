import { wordsIn } from '../api/input.js';
import { invalid } from '../problems.js';

const words = (text: string): string[] => text.split(' ');

/** What can be asked for, in the old words. */
const known = {
  post: words(
    'article attachments author_id card_uri community_id context_annotations conversation_id created_at display_text_range edit_controls edit_history_tweet_ids entities geo id in_reply_to_user_id lang media_metadata non_public_metrics note_tweet organic_metrics possibly_sensitive promoted_metrics public_metrics referenced_tweets reply_settings scopes source suggested_source_links text withheld',
  ),
  user: words(
    'affiliation connection_status created_at description entities id is_identity_verified location most_recent_tweet_id name parody pinned_tweet_id profile_banner_url profile_image_url protected public_metrics receives_your_dm subscription subscription_type url username verified verified_followers_count verified_type withheld',
  ),
  media: words(
    'alt_text duration_ms height media_key non_public_metrics organic_metrics preview_image_url promoted_metrics public_metrics type url variants width',
  ),
  list: words('created_at description follower_count id member_count name owner_id private'),
  poll: words('duration_minutes end_datetime id options voting_status'),
  place: words('contained_within country country_code full_name geo id name place_type'),
};

const expandable = {
  post: words(
    'article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet attachments.poll_ids author_id edit_history_tweet_ids entities.mentions.username geo.place_id in_reply_to_user_id entities.note.mentions.username referenced_tweets.id referenced_tweets.id.author_id',
  ),
  user: words('affiliation.user_id most_recent_tweet_id pinned_tweet_id'),
  list: ['owner_id'],
};

const usual = {
  post: ['id', 'text', 'edit_history_tweet_ids'],
  user: ['id', 'name', 'username'],
  media: ['media_key', 'type'],
  poll: ['id', 'options'],
  list: ['id', 'name'],
};

type Kind = keyof typeof usual;

/** What an answer is to hold. */
export interface Shape extends Readonly<Record<Kind, ReadonlySet<string>>> {
  readonly expansions: ReadonlySet<string>;
  readonly vocabulary: Vocabulary;
}

const POST_SHAPE = [
  'tweet.fields',
  'post.fields',
  'user.fields',
  'media.fields',
  'poll.fields',
  'place.fields',
  'expansions',
];

/** The parameters that say so, for answers about one kind of thing. */
export const shapeParameters = {
  post: POST_SHAPE,
  user: ['user.fields', 'tweet.fields', 'post.fields', 'expansions'],
  list: ['list.fields', 'user.fields', 'expansions'],
};

export function shapeFrom(query: URLSearchParams, about: keyof typeof shapeParameters): Shape {
  const expansionWords = query.get('expansions') ?? '';
  const young = query.has('post.fields') || /_posts|_post_ids/.test(expansionWords);
  if (query.has('post.fields') && query.has('tweet.fields'))
    throw invalid('You can only provide one of [post.fields, tweet.fields]', {
      'post.fields': [query.get('post.fields') ?? ''],
    });
  const vocabulary = young ? 'post' : 'tweet';
  const translate = (list: readonly string[]): string[] =>
    list.map((word) => inWords(word, vocabulary));
  const read = (name: string, list: readonly string[]): string[] =>
    wordsIn(query, name, translate(list)).map(inOldWords);
  wordsIn(query, 'place.fields', known.place);
  const fields = (kind: Kind, given: readonly string[]): ReadonlySet<string> =>
    new Set([...usual[kind], ...given]);
  return {
    vocabulary,
    post: fields('post', read(young ? 'post.fields' : 'tweet.fields', known.post)),
    user: fields('user', read('user.fields', known.user)),
    media: fields('media', read('media.fields', known.media)),
    poll: fields('poll', read('poll.fields', known.poll)),
    list: fields('list', read('list.fields', known.list)),
    expansions: new Set(read('expansions', expandable[about])),
  };
}

/**
 * X is renaming tweets to posts. A request that asks for `post.fields` is answered in the new words, one that
 * asks for `tweet.fields`, or for neither, in the old.
 */
type Vocabulary = 'tweet' | 'post';

const postNames: Readonly<Record<string, string>> = {
  edit_history_tweet_ids: 'edit_history_post_ids',
  referenced_tweets: 'referenced_posts',
  note_tweet: 'note_post',
  retweet_count: 'repost_count',
  tweets: 'posts',
  'referenced_tweets.id': 'referenced_posts.id',
  'referenced_tweets.id.author_id': 'referenced_posts.id.author_id',
};

const former = new Map(Object.entries(postNames).map(([old, young]) => [young, old]));

export function inWords(name: string, vocabulary: Vocabulary): string {
  return vocabulary === 'post' ? (postNames[name] ?? name) : name;
}

/** The name under which we know it. */
function inOldWords(name: string): string {
  return former.get(name) ?? name;
}
