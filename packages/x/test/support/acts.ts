import type { Commit, XSandbox } from '@toolkeel/sandbox';

type Data = Readonly<Record<string, unknown>>;
type Test = (commit: Commit) => boolean;

/** A mutating call, and how to find its effects in the sandbox. */
export interface Act {
  readonly name: string;
  readonly tool: string;
  readonly args: Data;
  /** Whether a repeat would act again. */
  readonly isPost: boolean;
  /** At most one commit may match each of these. */
  readonly effects: readonly Test[];
  /** The expected data of a success, given the commits. */
  readonly data: (made: readonly Commit[]) => object;
}

/** The commits for each effect. */
export const commitsOf = ({ effects }: Act, x: XSandbox, after = 0): readonly Commit[][] =>
  effects.map((isIt) => x.commits({ after }).filter(isIt));

const idOf = (commit: Commit | undefined): unknown => commit && 'id' in commit && commit.id;

/** Posts with texts and targets that X changes; `tag` makes them unique. */
export async function postsFor(x: XSandbox, tag: string): Promise<readonly Act[]> {
  const { mentionId, unaskedPostId } = x.landmarks;
  const post = (name: string, tool: string, args: { readonly text: string } & Data): Act => {
    const { media_ids: media } = args;
    const isIt: Test = (commit) =>
      commit.kind === 'post.created' &&
      commit.text === args.text &&
      (media === undefined || JSON.stringify(commit.media) === JSON.stringify(media));
    return {
      name,
      tool,
      args,
      isPost: true,
      effects: [isIt],
      data: ([made]) => ({ id: idOf(made) }),
    };
  };
  const pictures = [await uploadPicture(x), await uploadPicture(x), await uploadPicture(x)];
  const tweets = [
    `${tag} 1/4 <b> & "quotes"`,
    `${tag} 2/4 https://example.com/two?a=1&b=2`,
    `${tag} 3/4 @${x.landmarks.me.username} example.org`,
    `${tag} 4/4 café\u0301 👩‍👩‍👦`,
  ];
  const parts = tweets.map(
    (text): Test =>
      (commit) =>
        commit.kind === 'post.created' && commit.text === text.normalize('NFC'),
  );
  return [
    post('post', 'x_post_tweet', {
      text: `${tag} a < b && c > d: https://example.com/a?b=1&c=${tag} and example.org/${tag}`,
    }),
    post('post with media', 'x_post_tweet', {
      text: `${tag} look & see`,
      media_ids: [pictures[0]],
    }),
    post('post with a poll', 'x_post_tweet', {
      text: `${tag} tea & <coffee>?`,
      poll: { options: ['tea & <milk>', 'cafe\u0301'], duration_minutes: 60 },
    }),
    post('post of media alone', 'x_post_tweet', { text: '', media_ids: [pictures[1]] }),
    post('reply', 'x_reply_to_tweet', {
      text: `${tag} yes & no, see https://example.com/${tag}`,
      in_reply_to_id: mentionId,
    }),
    post('quote', 'x_quote_tweet', {
      text: `${tag} <this> example.com`,
      quoted_tweet_id: unaskedPostId,
    }),
    {
      name: 'thread',
      tool: 'x_post_thread',
      args: { tweets, media_ids: [[], [pictures[2]], [], []] },
      isPost: true,
      effects: parts,
      data: (made) => ({ root_id: idOf(made[0]), tweets: made.map((one) => ({ id: idOf(one) })) }),
    },
  ];
}

/** Idempotent mutations, prepared so that each has something to change. */
export async function setsFor(x: XSandbox, picture: string): Promise<readonly Act[]> {
  const { me, unaskedPostId: done, mentionId: undone, friendId, strangerId } = x.landmarks;
  const ask = asUser(x);
  const mine = (set: string) => `/2/users/${me.id}/${set}`;
  for (const set of ['likes', 'retweets', 'bookmarks']) {
    await ask('DELETE', `${mine(set)}/${done}`);
    await ask('POST', mine(set), { tweet_id: undone });
  }
  await ask('DELETE', `${mine('following')}/${strangerId}`);
  await ask('POST', mine('following'), { target_user_id: friendId });
  const { id: ours } = await ask('POST', '/2/tweets', { text: `to be deleted ${Math.random()}` });

  const set = (name: string, tool: string, args: Data, isIt: Test, data: object): Act => ({
    name,
    tool,
    args,
    isPost: false,
    effects: [isIt],
    data: () => data,
  });
  const marks = [
    ['like', 'x_like_tweet', 'x_unlike_tweet', 'liked'],
    ['repost', 'x_retweet', 'x_unretweet', 'retweeted'],
    ['bookmark', 'x_bookmark_tweet', 'x_unbookmark_tweet', 'bookmarked'],
  ] as const;
  const on =
    (kind: Commit['kind'], post: string): Test =>
    (commit) =>
      commit.kind === kind && 'post' in commit && commit.post === post;
  const user =
    (kind: Commit['kind'], id: string): Test =>
    (commit) =>
      commit.kind === kind && 'user' in commit && commit.user === id;
  return [
    ...marks.flatMap(([mark, act, undo, flag]) => [
      set(mark, act, { tweet_id: done }, on(`${mark}.created`, done), {
        tweet_id: done,
        [flag]: true,
      }),
      set(`undo ${mark}`, undo, { tweet_id: undone }, on(`${mark}.deleted`, undone), {
        tweet_id: undone,
        [flag]: false,
      }),
    ]),
    set(
      'follow',
      'x_follow_user',
      { target_user_id: strangerId },
      user('follow.created', strangerId),
      {
        target_user_id: strangerId,
        following: true,
      },
    ),
    set(
      'unfollow',
      'x_unfollow_user',
      { target_user_id: friendId },
      user('follow.deleted', friendId),
      {
        target_user_id: friendId,
        following: false,
      },
    ),
    set(
      'delete',
      'x_delete_tweet',
      { tweet_id: ours },
      (commit) => commit.kind === 'post.deleted' && commit.id === ours,
      { id: ours, deleted: true },
    ),
    {
      name: 'upload',
      tool: 'x_upload_media',
      args: { file_path: picture },
      isPost: false,
      effects: [(commit) => commit.kind === 'media.finalized'],
      data: ([made]) => ({ media_id: idOf(made), state: 'ready' }),
    },
  ];
}

/** Direct requests with the user's token. */
function asUser(x: XSandbox) {
  return async (method: string, path: string, body?: object): Promise<{ readonly id?: string }> => {
    const answer = await fetch(`${x.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${x.credentials.accessToken}`,
        'content-type': 'application/json',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
    return (JSON.parse(text) as { data: { id?: string } }).data;
  };
}

export async function uploadPicture(x: XSandbox): Promise<string> {
  const { id = '' } = await asUser(x)('POST', '/2/media/upload', {
    media: Buffer.from('picture').toString('base64'),
    media_category: 'tweet_image',
    media_type: 'image/png',
  });
  return id;
}
