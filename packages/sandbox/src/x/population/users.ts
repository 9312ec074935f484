import { randomOf, wholeBetween } from '../../random/random.js';
import { snowflakeAt } from '../world/snowflake.js';
import type { User } from '../world/things.js';
import { birds, oneOf, sentence } from './words.js';

export const USERS = 420;

/** Where in the list the users stand who are not like all others. */
export const cast = { me: 0, friend: 1, stranger: 300, closed: 301, closedFriend: 8, banned: 302 };

const FIRST = Date.UTC(2009, 0, 1);
const SNOWFLAKES_SINCE = Date.UTC(2013, 0, 1);
const LAST = Date.UTC(2024, 0, 1);

export function userAt(seed: number, index: number): User {
  const random = randomOf(seed, 'user', index);
  const createdAt = Math.floor(FIRST + ((LAST - FIRST) * index) / USERS);
  const bird = oneOf(random, birds);
  const number = String(index).padStart(3, '0');
  const isMe = index === cast.me;
  return {
    // Older ids are short: they were counted, before they told the time.
    id:
      createdAt < SNOWFLAKES_SINCE
        ? String(20_000_000 + index * 137_731)
        : snowflakeAt(createdAt, index),
    username: isMe ? 'sandbox_me' : `${bird}_${number}`.slice(-15),
    name: isMe ? 'Sandbox' : `${bird.charAt(0).toUpperCase()}${bird.slice(1)} ${index}`,
    createdAt,
    description: `${sentence(random)}.`,
    ...(random() < 0.4 && { location: 'By the sea' }),
    protected: index === cast.closed || index === cast.closedFriend,
    suspended: index === cast.banned,
    verifiedType: random() < 0.1 ? 'blue' : 'none',
    unlisted: isMe
      ? { followers: 0, following: 0, posts: 0, listed: 0 }
      : {
          followers: wholeBetween(random, 0, 5000),
          following: wholeBetween(random, 0, 900),
          posts: wholeBetween(random, 0, 20_000),
          listed: wholeBetween(random, 0, 40),
        },
  };
}

export const idAt = (users: readonly User[], index: number): string => users[index]?.id ?? '';
