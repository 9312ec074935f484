import { JournalError } from '../error.js';
import type { Script } from './script.js';
import type { Tables } from './tables.js';

/** Scripts with the same `lock` run one after the other. */
type Run = <T>(script: (tables: Tables) => Script<T>, lock?: string) => Promise<T>;

export interface WriteGuard {
  /** Rejects at once while this process must not write. */
  readonly write: Run;
  /** Runs the checks in the same transaction; for owner registration and renewal. */
  readonly heartbeat: Run;
  /** Compares the clocks first, in the same transaction; for writes that depend on leases or expiries. */
  readonly writeByClock: Run;
  /** Throws while `write` rejects. */
  readonly refuse: () => void;
}

export interface WriteGuardOptions {
  readonly write: Run;
  /** Throws a JournalError if a newer program has changed the schema, or commits were lost. */
  readonly refuseIfUnfit: () => Script<void>;
  /** A JournalError while the clocks of two live owners differ; absent if the store has a single clock. */
  readonly findSkew: (() => Script<JournalError | undefined>) | undefined;
}

/**
 * Stops writes of this process when they become unsafe: a newer program migrates the schema, an older
 * copy of the database is restored, or clocks diverge. Each heartbeat checks for that; writes are refused
 * until a later heartbeat passes.
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
        // Before the comparison, whatever its result: other processes need this heartbeat for theirs.
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
