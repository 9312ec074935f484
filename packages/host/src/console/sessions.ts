import { createHash, randomBytes } from 'node:crypto';

/** A signed-in operator. */
export interface Session {
  /** The actor of audit entries. */
  readonly name: string;
  readonly expiresAt: number;
}

export interface Link {
  readonly code: string;
  readonly expiresAt: number;
}

const LINK_MS = 10 * 60_000;
const SESSION_MS = 12 * 3_600_000;
/** More are not kept: the oldest is signed out. */
const MAX_SESSIONS = 100;
const MAX_LINKS = 20;
/** Wrong codes within a minute. A code has 256 bits, so this only limits noise. */
const MAX_WRONG = 30;
const MINUTE_MS = 60_000;

/**
 * One-time links and sessions of the console. They are kept in memory, as hashes: a restart signs everybody
 * out, and a copy of the memory reveals no credential that still works elsewhere.
 */
export class Sessions {
  readonly #now: () => number;
  readonly #links = new Map<
    string,
    { readonly name: string; readonly isNamed: boolean; readonly expiresAt: number }
  >();
  readonly #sessions = new Map<string, Session>();
  readonly #onEnd = new Map<string, Set<() => void>>();
  #wrong: number[] = [];

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Creates a code that signs in once. `isNamed`: for this person, so whoever opens it cannot be another. */
  createLink(name: string, isNamed = false): Link {
    const code = randomBytes(32).toString('base64url');
    const expiresAt = this.#now() + LINK_MS;
    this.#links.set(digest(code), { name, isNamed, expiresAt });
    dropOldest(this.#links, MAX_LINKS);
    return { code, expiresAt };
  }

  /** Undefined: the code was used, has expired or never existed. */
  signIn(
    code: string,
    name?: string,
  ): { readonly id: string; readonly session: Session } | undefined {
    const key = digest(code);
    const link = this.#links.get(key);
    this.#links.delete(key);
    const now = this.#now();
    if (!link || link.expiresAt <= now) {
      this.#wrong = [...this.#wrong, now].slice(-MAX_WRONG);
      return undefined;
    }
    const id = randomBytes(32).toString('base64url');
    const session = {
      name: link.isNamed ? link.name : (name ?? link.name),
      expiresAt: now + SESSION_MS,
    };
    this.#sessions.set(digest(id), session);
    for (const oldest of dropOldest(this.#sessions, MAX_SESSIONS)) this.#end(oldest);
    return { id, session };
  }

  /** Whether too many wrong codes were tried. */
  get isThrottled(): boolean {
    const since = this.#now() - MINUTE_MS;
    this.#wrong = this.#wrong.filter((at) => at > since);
    return this.#wrong.length >= MAX_WRONG;
  }

  get(id: string): Session | undefined {
    const key = digest(id);
    const session = this.#sessions.get(key);
    if (!session || session.expiresAt > this.#now()) return session;
    this.#sessions.delete(key);
    this.#end(key);
    return undefined;
  }

  signOut(id: string): void {
    const key = digest(id);
    if (this.#sessions.delete(key)) this.#end(key);
  }

  /** Calls back when the session ends. Returns a function that stops that. */
  onEnd(id: string, callback: () => void): () => void {
    const key = digest(id);
    const callbacks = this.#onEnd.get(key) ?? new Set();
    this.#onEnd.set(key, callbacks.add(callback));
    return () => {
      callbacks.delete(callback);
      if (callbacks.size === 0) this.#onEnd.delete(key);
    };
  }

  #end(key: string): void {
    for (const callback of this.#onEnd.get(key) ?? []) callback();
    this.#onEnd.delete(key);
  }
}

/** Looking up a hash takes the same time whether or not a prefix matches. */
function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

function dropOldest(map: Map<string, unknown>, max: number): readonly string[] {
  const dropped = [...map.keys()].slice(0, Math.max(0, map.size - max));
  for (const key of dropped) map.delete(key);
  return dropped;
}

/** Cookies are shared by all ports of a host, so the name has the port of this server. */
export function cookieName(host: string): string {
  const port = /:(\d+)$/.exec(host)?.[1] ?? 'default';
  return `toolkeel_console_${port}`;
}

export function readCookie(header: string | null, name: string): string | undefined {
  for (const part of (header ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2);
    if (key === name && value) return value;
  }
  return undefined;
}

/** `isSecure`: the page was loaded over HTTPS, from a reverse proxy. */
export function sessionCookie(
  name: string,
  id: string,
  { maxAgeMs, isSecure }: { readonly maxAgeMs: number; readonly isSecure: boolean },
): string {
  const seconds = Math.max(0, Math.floor(maxAgeMs / 1000));
  const secure = isSecure ? '; Secure' : '';
  return `${name}=${id}; Path=/api; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
