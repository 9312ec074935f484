import type { Claims } from './claims.js';
import type { Draft } from './draft.js';

/** As many as could be sent while one of them is looked for. */
const MOST = 1_000;

interface Sent {
  readonly draft: Draft;
  readonly openSince: number;
  /** Undefined while nobody knows what became of it. */
  id?: string;
}

/** What this process sent, for when no journal remembers it. */
export interface SentPosts {
  /** It is about to be sent. */
  readonly add: (draft: Draft, at: number) => Entry;
}

export interface Entry {
  readonly made: (id: string) => void;
  readonly notMade: () => void;
  /** What belongs to the others. */
  readonly others: () => Claims;
}

export function sentPosts(): SentPosts {
  const all = new Set<Sent>();
  return {
    add: (draft, openSince) => {
      const mine: Sent = { draft, openSince };
      all.add(mine);
      for (const oldest of all) {
        if (all.size <= MOST) break;
        all.delete(oldest);
      }
      return {
        made: (id) => void (mine.id = id),
        notMade: () => void all.delete(mine),
        others: () => {
          const others = [...all].filter((one) => one !== mine);
          return {
            owned: new Set(others.map(({ id }) => id).filter((id) => id !== undefined)),
            rivals: others
              .filter(({ id }) => id === undefined)
              .map((one) => ({ ...one.draft, openSince: one.openSince })),
          };
        },
      };
    },
  };
}
