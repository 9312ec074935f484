import type { RateLimitInfo } from '@toolkeel/kernel';
import type { CredentialKind } from '../auth/credential.js';

/** What X last said about one of its limits. */
export interface KnownWindow {
  readonly endpoint: string;
  readonly credential: CredentialKind;
  /** `15 minutes`, `24h app` or `24h user`. */
  readonly window: string;
  readonly info: RateLimitInfo;
}

/** The window that X does not name. */
export const SHORT_WINDOW = '15 minutes';

/** The limits of all endpoints as far as they are known: by credential, shared by all tools. */
export class RateWindows {
  readonly #known = new Map<string, KnownWindow>();

  note(endpoint: string, credential: CredentialKind, limits: readonly RateLimitInfo[]): void {
    for (const info of limits) {
      const window = info.name ?? SHORT_WINDOW;
      this.#known.set(`${credential} ${endpoint} ${window}`, {
        endpoint,
        credential,
        window,
        info,
      });
    }
  }

  /** Those that have not been reset since. */
  list(wallNow: number): readonly KnownWindow[] {
    for (const [key, { info }] of this.#known) {
      if (info.reset * 1000 <= wallNow) this.#known.delete(key);
    }
    return [...this.#known.values()];
  }
}
