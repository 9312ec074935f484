import { type Random, randomOf, wholeBetween } from '../../random.js';
import { snowflakeAt, type User } from '../world/records.js';

export const USERS = 420;

/** The indexes of users with special roles. */
export const roles = {
  me: 0,
  friend: 1,
  stranger: 300,
  protected: 301,
  protectedFriend: 8,
  suspendedUser: 302,
};

const FIRST = Date.UTC(2009, 0, 1);
const SNOWFLAKES_SINCE = Date.UTC(2013, 0, 1);
const LAST = Date.UTC(2024, 0, 1);

export function userAt(seed: number, index: number): User {
  const random = randomOf(seed, 'user', index);
  const createdAt = Math.floor(FIRST + ((LAST - FIRST) * index) / USERS);
  const bird = oneOf(random, birds);
  const number = String(index).padStart(3, '0');
  const isMe = index === roles.me;
  return {
    // Ids from before snowflakes are short.
    id:
      createdAt < SNOWFLAKES_SINCE
        ? String(20_000_000 + index * 137_731)
        : snowflakeAt(createdAt, index),
    username: isMe ? 'sandbox_me' : `${bird}_${number}`.slice(-15),
    name: isMe ? 'Sandbox' : `${bird.charAt(0).toUpperCase()}${bird.slice(1)} ${index}`,
    createdAt,
    description: `${sentence(random)}.`,
    ...(random() < 0.4 && { location: 'By the sea' }),
    protected: index === roles.protected || index === roles.protectedFriend,
    suspended: index === roles.suspendedUser,
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

function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

const words = (text: string): string[] => text.split(' ');

/** Usernames are birds, so that they name no real person. */
const birds = words(
  'heron finch osprey plover curlew wren siskin gannet petrel avocet bittern dunlin egret fulmar godwit harrier jackdaw kestrel lapwing merlin nuthatch oriole pipit quail redstart skua tern whimbrel yellowhammer waxwing',
);

const who = words('gulls swallows waders the_flock two_terns somebody everybody the_tide fog rain');
const did = words('left returned circled waited crossed followed found lost counted watched');
const what = words(
  'the_estuary the_harbour the_northern_cliffs the_reeds the_salt_marsh the_old_pier',
);
const when = words('at_dawn before_noon after_the_storm last_night again this_morning too_early');
const tags = words('birds tides fieldnotes migration weather');

const spaced = (text: string): string => text.replaceAll('_', ' ');

export function sentence(random: Random): string {
  const parts = [who, did, what, when].map((list) => spaced(oneOf(random, list)));
  const text = parts.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** An optional tag, link, escape or emoji after the sentence. */
export function flourish(random: Random): string {
  const drawn = random();
  if (drawn < 0.15) return ` #${oneOf(random, tags)}`;
  if (drawn < 0.27) return ` https://example.com/notes/${Math.floor(random() * 9000)}`;
  if (drawn < 0.31) return ' & <so on>';
  if (drawn < 0.35) return ' 🐦';
  if (drawn < 0.37) return ' $TIDE';
  return '';
}
