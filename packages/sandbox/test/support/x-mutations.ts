import type { LimitedRoute, XSandbox } from '@toolkeel/sandbox';
import { askX, posted, type ResponseData } from './x.js';

export interface Mutation {
  readonly route: LimitedRoute;
  readonly act: (x: XSandbox) => Promise<ResponseData<unknown>>;
  /** The precondition. */
  readonly before?: (x: XSandbox) => Promise<unknown>;
}

const own = (x: XSandbox, path: string): string => `/2/users/${x.landmarks.me.id}/${path}`;
const post = (x: XSandbox, path: string, body: object) =>
  askX<unknown>(x, path, { method: 'POST', body });
const drop = (x: XSandbox, path: string) => askX<unknown>(x, path, { method: 'DELETE' });

let count = 0;
/** A text that was not posted before. */
const fresh = (): string => `Number ${(count += 1)}`;

const like = (x: XSandbox) => post(x, own(x, 'likes'), { tweet_id: x.landmarks.mentionId });
const follow = (x: XSandbox) =>
  post(x, own(x, 'following'), { target_user_id: x.landmarks.strangerId });
const repost = (x: XSandbox) => post(x, own(x, 'retweets'), { tweet_id: x.landmarks.mentionId });
const bookmark = (x: XSandbox) => post(x, own(x, 'bookmarks'), { tweet_id: x.landmarks.mentionId });
const unlike = (x: XSandbox) => drop(x, own(x, `likes/${x.landmarks.mentionId}`));
const unfollow = (x: XSandbox) => drop(x, own(x, `following/${x.landmarks.strangerId}`));
const unrepost = (x: XSandbox) => drop(x, own(x, `retweets/${x.landmarks.mentionId}`));
const unbookmark = (x: XSandbox) => drop(x, own(x, `bookmarks/${x.landmarks.mentionId}`));

const lastPost = (x: XSandbox): string =>
  x
    .commits()
    .flatMap((commit) => (commit.kind === 'post.created' ? [commit.id] : []))
    .at(-1) ?? '';

/** Mutations that take effect whenever they are repeated. */
export const mutations: readonly Mutation[] = [
  { route: 'create-post', act: (x) => post(x, '/2/tweets', { text: fresh() }) },
  {
    route: 'delete-post',
    act: (x) => drop(x, `/2/tweets/${lastPost(x)}`),
    before: (x) => posted(x, { text: fresh() }),
  },
  { route: 'like', act: like, before: unlike },
  { route: 'unlike', act: unlike, before: like },
  { route: 'follow', act: follow, before: unfollow },
  { route: 'unfollow', act: unfollow, before: follow },
  { route: 'repost', act: repost, before: unrepost },
  { route: 'unrepost', act: unrepost, before: repost },
  { route: 'bookmark', act: bookmark, before: unbookmark },
  { route: 'unbookmark', act: unbookmark, before: bookmark },
  {
    route: 'media-initialize',
    act: (x) => post(x, '/2/media/upload/initialize', { media_type: 'image/png', total_bytes: 10 }),
  },
];
