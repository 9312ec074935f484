import type { PackLog } from '@toolkeel/contract';
import type { Redactor } from '@toolkeel/pack-kit';
import { lock } from './lock.js';
import { fileBehind, readLogin, writeLogin, type Login } from './login-file.js';

export interface UnsavedLoginOptions {
  readonly path: string;
  readonly secrets: Pick<Redactor, 'addRotating'>;
  readonly log: PackLog;
  readonly wallNow: () => number;
}

/** A renewed login that could not be written: its file has one whose refresh token is used up. */
export interface UnsavedLogin {
  /** What holds where the file has this one. */
  insteadOf(kept: Login): Login;
  /** Under the lock: writes what `kept` was renewed to, or holds it until that can be done. */
  write(file: string, next: Login, kept: Login): Promise<void>;
  /** Writes it if that was not tried a moment ago. Never rejects. */
  tryAgain(): Promise<void>;
  /** The last try. Never rejects. */
  close(): Promise<void>;
}

/** A disk that was full is full for a while: it is not asked at every call. */
const AGAIN_MS = 5_000;
/** It is tried again, and the end of the pack must not wait for long. */
const LOCK_TIMEOUT_MS = 2_000;

export function unsavedLogin({ path, secrets, log, wallNow }: UnsavedLoginOptions): UnsavedLogin {
  let held: { readonly login: Login; readonly replaces: Login } | undefined;
  let triedAt = 0;
  let trying = Promise.resolve();

  const replacing = (kept: Login) => (held && isSame(kept, held.replaces) ? held.login : undefined);

  const write: UnsavedLogin['write'] = async (file, next, kept) => {
    try {
      await writeLogin(file, next);
      if (replacing(kept)) log('info', 'login_saved', { path });
      held = undefined;
    } catch {
      triedAt = wallNow();
      held = { login: next, replaces: kept };
      log('error', 'login_not_saved', { path });
    }
  };

  const save = async (): Promise<void> => {
    triedAt = wallNow();
    const file = fileBehind(path);
    const mine = await lock(file, { signal: AbortSignal.timeout(LOCK_TIMEOUT_MS), wallNow });
    try {
      const kept = readLogin(file, secrets);
      // Whoever waited for the lock may have come too late: it was renewed again, or written.
      if (!kept || !held || !(await mine.held())) return;
      const next = replacing(kept);
      if (next) {
        await writeLogin(file, next);
        log('info', 'login_saved', { path });
      }
      // Else somebody has logged in anew.
      held = undefined;
    } finally {
      await mine.release();
    }
  };
  const tried = (): Promise<void> => (trying = save().catch(() => undefined));

  return {
    insteadOf: (kept) => replacing(kept) ?? kept,
    write,
    async tryAgain() {
      if (held && Math.abs(wallNow() - triedAt) >= AGAIN_MS) await tried();
    },
    async close() {
      await trying;
      if (held) await tried();
      if (held) log('error', 'login_not_saved', { path });
    },
  };
}

function isSame(a: Login, b: Login): boolean {
  return (
    a.login_id === b.login_id &&
    a.access_token === b.access_token &&
    a.refresh_token === b.refresh_token
  );
}
