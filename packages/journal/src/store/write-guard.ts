import { JournalError } from '../error.js';
import type { Script } from './script.js';
import type { Tables } from './tables.js';

/** `lock`: scripts with the same one follow each other. */
type Run = <T>(script: (tables: Tables) => Script<T>, lock?: string) => Promise<T>;

export interface WriteGuard {
  /** Rejects at once while this process must not begin or change anything. */
  readonly write: Run;
  /** Checks in the same transaction whether this process may write at all; for heartbeats. */
  readonly heartbeat: Run;
  /** Compares the clocks first, in the same transaction; for what depends on leases or expiries. */
  readonly writeByClock: Run;
  /** Throws while `write` rejects. */
  readonly refuse: () => void;
}

export interface WriteGuardOptions {
  readonly write: Run;
  /** Throws a JournalError if a newer program has changed the schema, or commits were lost. */
  readonly refuseIfUnfit: () => Script<void>;
  /** A JournalError while the clocks of two live owners differ; absent where the store has one clock. */
  readonly findSkew: (() => Script<JournalError | undefined>) | undefined;
}

/**
 * Other processes can make it wrong for this one to write: a newer program changes the schema, an
 * older copy is restored, a clock is set. It notices with its next heartbeat, and begins nothing until
 * a later one finds everything in order.
 */
export function guardWrites({ write, refuseIfUnfit, findSkew }: WriteGuardOptions): WriteGuard {
  let unfit: JournalError | undefined;
  let skew: JournalError | undefined;
  const refuse = (): void => {
    const reason = unfit ?? skew;
    if (reason) throw reason;
  };
  const writeIfFit: Run = (script, lock) => (unfit ? Promise.reject(unfit) : write(script, lock));
  const guarded: Run = (script, lock) =>
    skew ? Promise.reject(unfit ?? skew) : writeIfFit(script, lock);

  function* check(): Script<void> {
    try {
      yield* refuseIfUnfit();
    } catch (error) {
      if (error instanceof JournalError) unfit = error;
      throw error;
    }
    unfit = undefined;
  }

  return {
    refuse,
    write: guarded,
    heartbeat: (script) =>
      write(function* (tables) {
        yield* check();
        // Before the comparison, and whatever comes of it: others compare their clocks with ours.
        const value = yield* script(tables);
        if (findSkew) skew = yield* findSkew();
        return value;
      }),
    writeByClock: findSkew
      ? (script, lock) =>
          writeIfFit(function* (tables) {
            skew = yield* findSkew();
            if (skew) throw skew;
            return yield* script(tables);
          }, lock)
      : guarded,
  };
}
