import type { Clock } from '../clock.js';

/** What a call is charged for. */
export type Charge =
  | 'post'
  | 'post-with-link'
  | 'reply'
  | 'interaction'
  | 'interaction-delete'
  | 'bookmark'
  | 'post-read'
  | 'user-read'
  | 'owned-read';

/** In US dollars, as X publishes them. */
const prices: Readonly<Record<Charge, number>> = {
  post: 0.015,
  'post-with-link': 0.2,
  reply: 0.01,
  interaction: 0.015,
  'interaction-delete': 0.01,
  bookmark: 0.005,
  'post-read': 0.005,
  'user-read': 0.01,
  'owned-read': 0.001,
};

/** The developer's account: what is left to spend, and what was read this month. */
export interface Account {
  readonly credits: () => number;
  readonly setCredits: (dollars: number) => void;
  readonly spent: () => number;
  readonly charge: (charge: Charge, times?: number) => void;
  /** How many posts can be read in a month. */
  readonly postCap: number;
  readonly postsRead: () => number;
  readonly isCapped: () => boolean;
}

const MONTH = 30 * 24 * 60 * 60_000;

export function createAccount(clock: Clock, credits = Infinity, postCap = 3_000_000): Account {
  let [left, spent, read] = [credits, 0, 0];
  let monthEnds = clock.now() + MONTH;
  const postsRead = (): number => {
    if (clock.now() >= monthEnds) [read, monthEnds] = [0, clock.now() + MONTH];
    return read;
  };
  return {
    credits: () => left,
    setCredits: (dollars) => {
      left = dollars;
    },
    spent: () => spent,
    charge: (charge, times = 1) => {
      spent += prices[charge] * times;
      left -= prices[charge] * times;
      if (charge === 'post-read' || charge === 'owned-read') read = postsRead() + times;
    },
    postCap,
    postsRead,
    isCapped: () => postsRead() >= postCap,
  };
}
