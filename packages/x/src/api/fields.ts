/** The names that X is changing, in one place: what we ask with, and what answers are called. */
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

/** The parameters that ask for what our answers show. */
export function fieldQueries(spelling: Spelling): FieldQueries {
  const renamed = `referenced_${spelling}s,note_${spelling}`;
  return {
    posts: {
      [`${spelling}.fields`]: `${postFields},${renamed}`,
      expansions: 'author_id,attachments.media_keys,attachments.poll_ids',
      'user.fields': 'username,name',
      'media.fields': 'type,url,alt_text',
      'poll.fields': 'options,duration_minutes,voting_status',
    },
    users: { 'user.fields': userFields },
    lists: {
      'list.fields': 'created_at,description,follower_count,member_count,owner_id,private',
    },
  };
}

/** Both spellings of a member, the older one first. */
export const spelled = {
  referenced: ['referenced_tweets', 'referenced_posts'],
  note: ['note_tweet', 'note_post'],
} as const;
