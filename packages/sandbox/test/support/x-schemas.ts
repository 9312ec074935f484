import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';

const id = { type: 'string', pattern: '^[0-9]{1,19}$' };
const time = { type: 'string', pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$` };
const count = { type: 'integer', minimum: 0 };
const text = { type: 'string' };
const flag = { type: 'boolean' };

/** Closed schemas, so that unknown fields fail. */
const object = (properties: Record<string, unknown>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const all = (properties: Record<string, unknown>) => object(properties, Object.keys(properties));
const some = (items: unknown) => ({ type: 'array', items, minItems: 1 });

const place = { start: count, end: count };
const entities = object({
  urls: some({
    ...object(
      {
        ...place,
        url: { type: 'string', pattern: String.raw`^https://t\.co/\w{10}$` },
        expanded_url: { type: 'string', pattern: '^https?://' },
        display_url: text,
        media_key: text,
      },
      ['start', 'end', 'url', 'expanded_url', 'display_url'],
    ),
  }),
  mentions: some(all({ ...place, username: text, id })),
  hashtags: some(all({ ...place, tag: text })),
  cashtags: some(all({ ...place, tag: text })),
});

const post = object(
  {
    id,
    text,
    edit_history_tweet_ids: some(id),
    author_id: id,
    created_at: time,
    conversation_id: id,
    in_reply_to_user_id: id,
    lang: text,
    possibly_sensitive: flag,
    reply_settings: {
      enum: ['everyone', 'following', 'mentionedUsers', 'subscribers', 'verified'],
    },
    referenced_tweets: some(all({ type: { enum: ['replied_to', 'quoted', 'retweeted'] }, id })),
    attachments: {
      ...object({
        media_keys: some({ type: 'string', pattern: String.raw`^\d+_\d+$` }),
        poll_ids: { ...some(id), maxItems: 1 },
      }),
      minProperties: 1,
      maxProperties: 1,
    },
    entities,
    note_tweet: object({ text, entities }, ['text']),
    display_text_range: { type: 'array', items: count, minItems: 2, maxItems: 2 },
    edit_controls: all({ edits_remaining: count, is_edit_eligible: flag, editable_until: time }),
    public_metrics: all({
      retweet_count: count,
      reply_count: count,
      like_count: count,
      quote_count: count,
      bookmark_count: count,
      impression_count: count,
    }),
    non_public_metrics: { type: 'object' },
    organic_metrics: { type: 'object' },
  },
  ['id', 'text', 'edit_history_tweet_ids'],
);

const user = object(
  {
    id,
    name: text,
    username: { type: 'string', pattern: String.raw`^\w{1,15}$` },
    created_at: time,
    description: text,
    location: text,
    protected: flag,
    verified: flag,
    verified_type: { enum: ['blue', 'business', 'government', 'none'] },
    url: text,
    profile_image_url: { type: 'string', pattern: '^https://' },
    pinned_tweet_id: id,
    most_recent_tweet_id: id,
    public_metrics: all({
      followers_count: count,
      following_count: count,
      tweet_count: count,
      listed_count: count,
      like_count: count,
      media_count: count,
    }),
  },
  ['id', 'name', 'username'],
);

const media = object(
  {
    media_key: text,
    type: { enum: ['photo', 'animated_gif', 'video'] },
    width: count,
    height: count,
    alt_text: text,
    duration_ms: count,
    url: text,
    preview_image_url: text,
    public_metrics: { type: 'object' },
  },
  ['media_key', 'type'],
);

const poll = object(
  {
    id,
    options: {
      ...some(all({ position: count, label: text, votes: count })),
      minItems: 2,
      maxItems: 4,
    },
    duration_minutes: { type: 'integer', minimum: 5, maximum: 10_080 },
    end_datetime: time,
    voting_status: { enum: ['open', 'closed'] },
  },
  ['id', 'options'],
);

const list = object(
  {
    id,
    name: text,
    created_at: time,
    description: text,
    owner_id: id,
    private: flag,
    follower_count: count,
    member_count: count,
  },
  ['id', 'name'],
);

const type = { type: 'string', pattern: '^https://api\\.twitter\\.com/2/problems/[a-z0-9-]+$' };
const partial = object(
  {
    value: text,
    detail: text,
    title: text,
    resource_type: { enum: ['tweet', 'user', 'list', 'media'] },
    parameter: text,
    resource_id: text,
    section: { enum: ['data', 'includes'] },
    field: text,
    type,
  },
  ['title', 'detail', 'type'],
);

const token = { type: 'string', pattern: '^[a-z0-9]{16,}$' };
const meta = object(
  {
    result_count: count,
    next_token: token,
    previous_token: token,
    newest_id: id,
    oldest_id: id,
  },
  ['result_count'],
);

/** Empty and null members are omitted. */
const envelope = (data: unknown, more: Record<string, unknown> = {}) => ({
  ...object({
    data,
    includes: {
      ...object({ users: some(user), tweets: some(post), media: some(media), polls: some(poll) }),
      minProperties: 1,
    },
    errors: some(partial),
    ...more,
  }),
  minProperties: 1,
});

const problem = {
  oneOf: [
    all({ title: text, detail: text, type: { const: 'about:blank' }, status: count }),
    all({
      errors: some(all({ parameters: { type: 'object' }, message: text })),
      title: text,
      detail: text,
      type,
    }),
    all({ errors: some(partial), title: text, detail: text, type }),
    all({ errors: some(all({ code: count, message: text })) }),
    {
      type: 'object',
      properties: { title: text, detail: text, type },
      required: ['title', 'detail', 'type'],
      not: { required: ['errors'] },
    },
  ],
};

const schemas = {
  post: envelope(post),
  posts: envelope(some(post), { meta }),
  user: envelope(user),
  users: envelope(some(user), { meta }),
  list: envelope(list),
  lists: envelope(some(list), { meta }),
  created: all({ data: all({ id, text, edit_history_tweet_ids: some(id) }) }),
  problem,
} satisfies Record<string, AnySchema>;

export type SchemaName = keyof typeof schemas;

const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
const validators = Object.fromEntries(
  Object.entries(schemas).map(([name, schema]) => [name, ajv.compile(schema)]),
);

/** The validation errors of a response. */
export function wrongWith(name: SchemaName, answer: unknown): string[] {
  const validate = validators[name];
  if (!validate) throw new Error(`there is no schema ${name}`);
  if (validate(answer)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath} ${message ?? ''}`,
  );
}
