import { Secret } from './secret.js';

const REDACTED = '[redacted]';

/** Shorter ones would be found in every other word, and protect nothing. */
const MIN_LENGTH = 6;

/**
 * All secrets that this process knows, to take them out of whatever it says. A secret is looked for
 * as it is, as it stands in JSON, in a URL, and in base64, where basic credentials hide.
 */
export class Secrets {
  readonly #forms = new Set<string>();
  #ordered: readonly string[] | undefined;

  /** Remembers a value and wraps it. */
  add(name: string, value: string): Secret {
    this.watch(value);
    return new Secret(name, value);
  }

  /** Remembers a value that somebody else keeps. */
  watch(value: string): void {
    const trimmed = value.trim();
    if (trimmed.length < MIN_LENGTH) return;
    for (const form of formsOf(trimmed)) this.#forms.add(form);
    this.#ordered = undefined;
  }

  readonly scrub = (text: string): string => {
    // The longest first: a secret may contain another one.
    this.#ordered ??= [...this.#forms].toSorted((a, b) => b.length - a.length);
    let clean = text;
    for (const form of this.#ordered) {
      if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
    }
    return clean;
  };
}

function formsOf(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  // Half a character cannot be in a URL, and `encodeURIComponent` throws on it.
  const inUrl = encodeURIComponent(Buffer.from(value).toString());
  const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '');
  const base64url = Buffer.from(value).toString('base64url');
  return [value, inJson, JSON.stringify(inJson).slice(1, -1), inUrl, base64, base64url];
}
