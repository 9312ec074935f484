import { JournalError } from '../error.js';
import type { Script } from './script.js';
import type { Tables } from './tables.js';

type Run = <T>(script: (tables: Tables) => Script<T>) => Promise<T>;

interface Watched {
  /** Refuses at once what would begin or change something, once a newer program was seen. */
  readonly write: Run;
  /** Looks first; asked for now and then, so that everything else need not. */
  readonly writeLooking: Run;
  /** Throws if a newer program was seen. */
  readonly refuse: () => void;
}

/**
 * Programs of two versions can run side by side while one replaces the other. The older one notices
 * with its next sign of life that the journal is not written in its way any more, and then begins
 * nothing. `look` throws a JournalError of reason `schema`.
 */
export function watchForNewer(write: Run, look: () => Script<void>): Watched {
  let seen: JournalError | undefined;
  const refuse = (): void => {
    if (seen) throw seen;
  };
  return {
    refuse,
    write: (script) => (seen ? Promise.reject(seen) : write(script)),
    writeLooking: async (script) => {
      try {
        const value = await write(function* (tables) {
          yield* look();
          return yield* script(tables);
        });
        seen = undefined;
        return value;
      } catch (error) {
        if (error instanceof JournalError && error.reason === 'schema') seen = error;
        throw error;
      }
    },
  };
}
