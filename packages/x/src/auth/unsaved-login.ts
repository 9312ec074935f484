import type { PackLog } from '@toolkeel/contract';
import type { Redactor } from '@toolkeel/pack-kit';
import { lock } from './lock.js';
import { resolveLoginPath, readLogin, writeLogin, type Login } from './login-file.js';

export interface UnsavedLoginOptions {
  readonly path: string;
  readonly secrets: Pick<Redactor, 'addRotating'>;
  readonly log: PackLog;
  readonly wallNow: () => number;
}

/** A renewed login that could not be saved, while the refresh token in its file is used up. */
export interface UnsavedLogin {
  /** The renewal of the login in the file, or that login itself. */
  currentFor(saved: Login): Login;
  /** Saves the renewal of `saved`, or keeps it in memory until it can be saved. Requires the lock. */
  write(file: string, next: Login, saved: Login): Promise<void>;
  /** Saves a pending login if the last attempt is long enough ago. Never rejects. */
  retrySave(): Promise<void>;
  /** Makes a last attempt. Never rejects. */
  close(): Promise<void>;
}

/** A full disk stays full for a while, so not every call tries to save. */
const RETRY_MS = 5_000;
/** Short, because closing the pack waits for it. */
const LOCK_TIMEOUT_MS = 2_000;

export function unsavedLogin({ path, secrets, log, wallNow }: UnsavedLoginOptions): UnsavedLogin {
  let pending: { readonly login: Login; readonly replaces: Login } | undefined;
  let triedAt = 0;
  let saving = Promise.resolve();

  const pendingFor = (saved: Login) =>
    pending && isSame(saved, pending.replaces) ? pending.login : undefined;

  const write: UnsavedLogin['write'] = async (file, next, saved) => {
    try {
      await writeLogin(file, next);
      if (pendingFor(saved)) log('info', 'login_saved', { path });
      pending = undefined;
    } catch {
      triedAt = wallNow();
      pending = { login: next, replaces: saved };
      log('error', 'login_not_saved', { path });
    }
  };

  const save = async (): Promise<void> => {
    triedAt = wallNow();
    const file = resolveLoginPath(path);
    const held = await lock(file, { signal: AbortSignal.timeout(LOCK_TIMEOUT_MS), wallNow });
    try {
      const saved = readLogin(file, secrets);
      // The login may have been saved or renewed again during the wait for the lock.
      if (!saved || !pending || !(await held.isHeld())) return;
      const next = pendingFor(saved);
      if (next) {
        await writeLogin(file, next);
        log('info', 'login_saved', { path });
      }
      // Otherwise a new login has replaced it.
      pending = undefined;
    } finally {
      await held.release();
    }
  };
  const attempt = (): Promise<void> => (saving = save().catch(() => undefined));

  return {
    currentFor: (saved) => pendingFor(saved) ?? saved,
    write,
    async retrySave() {
      if (pending && Math.abs(wallNow() - triedAt) >= RETRY_MS) await attempt();
    },
    async close() {
      await saving;
      if (pending) await attempt();
      if (pending) log('error', 'login_not_saved', { path });
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
