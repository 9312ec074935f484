/**
 * X is renaming tweets to posts. A request that asks for `post.fields` is answered in the new words, one that
 * asks for `tweet.fields`, or for neither, in the old.
 */
export type Vocabulary = 'tweet' | 'post';

const renamed: Readonly<Record<string, string>> = {
  edit_history_tweet_ids: 'edit_history_post_ids',
  referenced_tweets: 'referenced_posts',
  note_tweet: 'note_post',
  retweet_count: 'repost_count',
  tweets: 'posts',
  'referenced_tweets.id': 'referenced_posts.id',
  'referenced_tweets.id.author_id': 'referenced_posts.id.author_id',
};

const former = new Map(Object.entries(renamed).map(([old, young]) => [young, old]));

export function inWords(name: string, vocabulary: Vocabulary): string {
  return vocabulary === 'post' ? (renamed[name] ?? name) : name;
}

/** The name under which we know it. */
export function inOldWords(name: string): string {
  return former.get(name) ?? name;
}
