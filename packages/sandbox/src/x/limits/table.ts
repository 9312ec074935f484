/** How many requests a route takes: in fifteen minutes from an app or a user, and in a day. */
export interface Limits {
  readonly app?: number;
  readonly user?: number;
  readonly appDay?: number;
  readonly userDay?: number;
}

const both = (app: number, user = app): Limits => ({ app, user });
const user = (limit: number): Limits => ({ user: limit });

/** As X documents them. */
export const documentedLimits = {
  me: user(75),
  user: both(300, 900),
  users: both(300, 900),
  'user-by-username': both(300, 900),
  'users-by-usernames': both(300, 900),
  followers: both(300),
  following: both(300),
  'user-posts': both(10_000, 900),
  mentions: both(450, 300),
  home: user(180),
  'liked-posts': both(75),
  bookmarks: user(180),
  'owned-lists': both(15),
  'list-memberships': both(75),
  'followed-lists': both(15),
  'pinned-lists': both(15),
  post: both(450, 900),
  posts: both(3500, 5000),
  search: both(450, 300),
  'liking-users': both(75),
  reposters: both(75),
  reposts: both(75),
  quotes: both(75),
  list: both(75),
  'list-posts': both(900),
  'list-members': both(900),
  usage: { app: 50 },
  'create-post': { user: 100, appDay: 10_000 },
  'delete-post': user(50),
  like: { user: 50, userDay: 1000 },
  unlike: { user: 50, userDay: 1000 },
  follow: user(50),
  unfollow: user(50),
  repost: user(50),
  unrepost: user(50),
  bookmark: user(50),
  unbookmark: user(50),
  'hide-reply': user(50),
  'create-list': user(300),
  'update-list': user(300),
  'delete-list': user(300),
  'add-list-member': user(300),
  'remove-list-member': user(300),
  'media-upload': { user: 500, appDay: 50_000 },
  'media-initialize': { user: 1875, appDay: 180_000 },
  'media-append': { user: 1875, appDay: 180_000 },
  'media-finalize': { user: 1875, appDay: 180_000 },
  'media-status': user(1000),
  'media-metadata': user(500),
} as const satisfies Readonly<Record<string, Limits>>;

export type LimitedRoute = keyof typeof documentedLimits;
