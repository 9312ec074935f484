import type { RateLimitInfo } from '@toolkeel/kernel';
import type { CredentialKind } from '../auth/credential.js';

/** What X last said about one of its limits. */
export interface KnownWindow {
  readonly endpoint: string;
  readonly credential: CredentialKind;
  /** `15 minutes`, `24h app`, `24h user` or `not stated`. */
  readonly window: string;
  readonly info: RateLimitInfo;
}

/** The window that X's headers leave without a name. */
const SHORT_WINDOW = '15 minutes';

/** The name of a window that X did not describe: it only gave a time to wait. */
export const UNSTATED_WINDOW = 'not stated';

/** Which window a limit is about; undefined if X did not state one. */
export function windowOf({ name = SHORT_WINDOW }: RateLimitInfo): string | undefined {
  return name === UNSTATED_WINDOW ? undefined : name;
}

type Limits = readonly RateLimitInfo[];
type Login = string | undefined;

/** The limits of all endpoints as far as they are known: by credential, shared by all tools. */
export class RateWindows {
  readonly #known = new Map<string, KnownWindow & { readonly login: Login }>();
  readonly #current: (kind: CredentialKind) => Login;

  /** `current`: which login of a kind there is now; those of another one are not ours any more. */
  constructor(current: (kind: CredentialKind) => Login) {
    this.#current = current;
  }

  note(endpoint: string, credential: CredentialKind, login: Login, limits: Limits): void {
    for (const info of limits) {
      const window = windowOf(info) ?? UNSTATED_WINDOW;
      const one = { endpoint, credential, login, window, info };
      this.#known.set([credential, login, endpoint, window].join(' '), one);
    }
  }

  /** Those that have not been reset since. */
  list(wallNow: number): readonly KnownWindow[] {
    for (const [key, { info, credential, login }] of this.#known) {
      const isOver = info.reset * 1000 <= wallNow || login !== this.#current(credential);
      if (isOver) this.#known.delete(key);
    }
    return [...this.#known.values()].map(({ login: _, ...known }) => known);
  }
}
