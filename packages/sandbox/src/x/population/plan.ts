import { randomOf, wholeBetween, type Random } from '../../random/random.js';
import { cast, USERS } from './users.js';

/** What is to be posted, before it is: by whom, when, and about what. */
export interface Planned {
  readonly author: number;
  readonly at: number;
  readonly kind: 'plain' | 'mention' | 'reply' | 'quote' | 'repost' | 'picture' | 'thread';
}

const HOUR = 60 * 60_000;
const DAYS = 30;

/** So many posts of each kind by the one user, spread over a month. */
const own: Readonly<Record<Planned['kind'], number>> = {
  plain: 180,
  mention: 20,
  reply: 40,
  quote: 10,
  repost: 30,
  picture: 30,
  thread: 8,
};

/** And by all others. */
const others: Readonly<Record<Planned['kind'], number>> = {
  plain: 1500,
  mention: 260,
  reply: 250,
  quote: 60,
  repost: 100,
  picture: 120,
  thread: 10,
};

function spread(random: Random, end: number): number {
  return Math.floor(end - random() * DAYS * 24 * HOUR);
}

/** In the order of time, no two at once. */
export function planOf(seed: number, end: number): Planned[] {
  const random = randomOf(seed, 'plan');
  const planned: Planned[] = [];
  for (const [counts, isOwn] of [
    [own, true],
    [others, false],
  ] as const)
    for (const [kind, count] of Object.entries(counts) as [Planned['kind'], number][])
      for (let turn = 0; turn < count; turn += 1)
        planned.push({
          kind,
          author: isOwn ? cast.me : wholeBetween(random, 1, USERS - 1),
          at: spread(random, end),
        });
  for (const author of [cast.stranger, cast.closed, cast.closedFriend])
    for (let turn = 0; turn < 3; turn += 1)
      planned.push({ kind: 'plain', author, at: spread(random, end) });
  const inOrder = planned.toSorted((a, b) => a.at - b.at);
  let last = 0;
  return inOrder.map((one) => {
    last = Math.max(one.at, last + 20);
    return { ...one, at: last };
  });
}
