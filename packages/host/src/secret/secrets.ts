import { secretForms } from '@toolkeel/contract';
import { Secret } from './secret.js';

const REDACTED = '[redacted]';

/** Shorter ones would be found in every other word, and protect nothing. */
const MIN_LENGTH = 6;
/** Of those that pass. */
const MAX_PASSING = 64;

/**
 * All secrets that this process knows, to take them out of whatever it says. A secret is looked for
 * as it is, as it stands in JSON, in a URL, and in base64, where basic credentials hide.
 */
export class Secrets {
  readonly #forms = new Set<string>();
  /** By value, the oldest first. */
  readonly #passing = new Map<string, readonly string[]>();
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
    for (const form of secretForms(trimmed)) this.#forms.add(form);
    this.#ordered = undefined;
  }

  /** Remembers a value that is replaced again and again: the last ones, or every search would be slower. */
  readonly watchPassing = (value: string): void => {
    if (value.length < MIN_LENGTH || this.#passing.has(value)) return;
    this.#passing.set(value, secretForms(value));
    const [oldest] = this.#passing.keys();
    if (this.#passing.size > MAX_PASSING && oldest !== undefined) this.#passing.delete(oldest);
    this.#ordered = undefined;
  };

  readonly scrub = (text: string): string => {
    // The longest first: a secret may contain another one.
    this.#ordered ??= [...this.#forms, ...[...this.#passing.values()].flat()].toSorted(
      (a, b) => b.length - a.length,
    );
    let clean = text;
    for (const form of this.#ordered) {
      if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
    }
    return clean;
  };
}
