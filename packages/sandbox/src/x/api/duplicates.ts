import type { Clock } from '../clock.js';

/** What users have posted lately. X tells nobody how long it remembers, and forgets nothing when it is deleted. */
export interface Recent {
  readonly has: (userId: string, content: string) => boolean;
  readonly remember: (userId: string, content: string) => void;
}

export function createRecent(clock: Clock, windowMs: number): Recent {
  const posted = new Map<string, number>();
  const keyOf = (userId: string, content: string): string => `${userId} ${content}`;
  return {
    has: (userId, content) => {
      const at = posted.get(keyOf(userId, content));
      return at !== undefined && clock.now() - at < windowMs;
    },
    remember: (userId, content) => {
      posted.set(keyOf(userId, content), clock.now());
    },
  };
}
