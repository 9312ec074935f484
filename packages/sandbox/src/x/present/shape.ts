import { wordsIn } from '../api/input.js';
import { invalid } from '../problems.js';

const words = (text: string): string[] => text.split(' ');

/** The selectable fields, in tweet naming. */
const selectable = {
  post: words(
    'article attachments author_id card_uri community_id context_annotations conversation_id created_at display_text_range edit_controls edit_history_tweet_ids entities geo id in_reply_to_user_id lang media_metadata note_tweet possibly_sensitive public_metrics referenced_tweets reply_settings scopes source suggested_source_links text withheld',
  ),
  user: words(
    'affiliation connection_status created_at description entities id is_identity_verified location name parody pinned_tweet_id profile_banner_url profile_image_url protected public_metrics receives_your_dm subscription subscription_type url username verified verified_followers_count verified_type withheld',
  ),
  media: words(
    'alt_text duration_ms height media_key preview_image_url public_metrics type url variants width',
  ),
  list: words('created_at description follower_count id member_count name owner_id private'),
  poll: words('duration_minutes end_datetime id options voting_status'),
  place: words('contained_within country country_code full_name geo id name place_type'),
};

/** The expansions of posts. Those of users and lists are not supported. */
const expandable = words(
  'article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet attachments.poll_ids author_id edit_history_tweet_ids entities.mentions.username geo.place_id in_reply_to_user_id entities.note.mentions.username referenced_tweets.id referenced_tweets.id.author_id',
);

const defaults = {
  post: ['id', 'text', 'edit_history_tweet_ids'],
  user: ['id', 'name', 'username'],
  media: ['media_key', 'type'],
  poll: ['id', 'options'],
  list: ['id', 'name'],
};

type Kind = keyof typeof defaults;

/** The requested fields and expansions. */
export interface Shape extends Readonly<Record<Kind, ReadonlySet<string>>> {
  readonly expansions: ReadonlySet<string>;
  readonly naming: Naming;
}

const POST_FIELDS = ['tweet.fields', 'post.fields', 'user.fields', 'media.fields', 'poll.fields'];

/** The parameters that select fields, by the primary record of the response. */
export const shapeParameters = {
  post: [...POST_FIELDS, 'place.fields', 'expansions'],
  user: ['user.fields'],
  list: ['list.fields'],
};

export function shapeFrom(query: URLSearchParams): Shape {
  const expansionWords = query.get('expansions') ?? '';
  const usesPostNames = query.has('post.fields') || /_posts|_post_ids/.test(expansionWords);
  if (query.has('post.fields') && query.has('tweet.fields'))
    throw invalid('You can only provide one of [post.fields, tweet.fields]', {
      'post.fields': [query.get('post.fields') ?? ''],
    });
  const naming = usesPostNames ? 'post' : 'tweet';
  const translate = (list: readonly string[]): string[] => list.map((word) => nameIn(word, naming));
  const read = (name: string, list: readonly string[]): string[] =>
    wordsIn(query, name, translate(list)).map(canonicalName);
  wordsIn(query, 'place.fields', selectable.place);
  const fields = (kind: Kind, given: readonly string[]): ReadonlySet<string> =>
    new Set([...defaults[kind], ...given]);
  return {
    naming,
    post: fields('post', read(usesPostNames ? 'post.fields' : 'tweet.fields', selectable.post)),
    user: fields('user', read('user.fields', selectable.user)),
    media: fields('media', read('media.fields', selectable.media)),
    poll: fields('poll', read('poll.fields', selectable.poll)),
    list: fields('list', read('list.fields', selectable.list)),
    expansions: new Set(read('expansions', expandable)),
  };
}

/**
 * X is renaming tweets to posts. A request with `post.fields` gets the new names, all others the old ones.
 */
type Naming = 'tweet' | 'post';

const postNames: Readonly<Record<string, string>> = {
  edit_history_tweet_ids: 'edit_history_post_ids',
  referenced_tweets: 'referenced_posts',
  note_tweet: 'note_post',
  retweet_count: 'repost_count',
  tweets: 'posts',
  'referenced_tweets.id': 'referenced_posts.id',
  'referenced_tweets.id.author_id': 'referenced_posts.id.author_id',
};

const former = new Map(
  Object.entries(postNames).map(([old, usesPostNames]) => [usesPostNames, old]),
);

export function nameIn(name: string, naming: Naming): string {
  return naming === 'post' ? (postNames[name] ?? name) : name;
}

/** The name in tweet naming. */
function canonicalName(name: string): string {
  return former.get(name) ?? name;
}
