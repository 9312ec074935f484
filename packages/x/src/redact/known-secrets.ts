import { secretForms } from '@toolkeel/contract';
import { readingsOf } from './plain.js';

const REDACTED = '[secret]';
/** Shorter ones would be found in every other word, and protect nothing. */
const MIN_LENGTH = 6;
/** A login brings two every two hours: what is older than a day and a half opens nothing any more. */
const MAX_PASSING = 32;

/** The secrets that this pack holds or held, to take them out of what X says. */
export interface KnownSecrets {
  /** One that stays as long as the process. */
  readonly keep: (value: string) => void;
  /** One that is replaced some day; it may be said even after that. */
  readonly pass: (value: string) => void;
  /** Whether a text repeats one, however it is spelled. */
  readonly isIn: (text: string) => boolean;
  readonly takeOut: (text: string) => string;
}

/** `tell` hears of every new one: others want to take them out, too. */
export function knownSecrets(tell: (value: string) => void = () => undefined): KnownSecrets {
  const kept = new Map<string, readonly string[]>();
  const passing = new Map<string, readonly string[]>();
  let forms: readonly string[] = [];
  let shortest = Number.POSITIVE_INFINITY;

  const add = (to: Map<string, readonly string[]>, value: string): void => {
    if (value.length < MIN_LENGTH || kept.has(value) || passing.has(value)) return;
    to.set(value, secretForms(value));
    for (const [oldest] of passing) if (passing.size > MAX_PASSING) passing.delete(oldest);
    // The longest first: a secret may contain another one.
    const all = [...kept.values(), ...passing.values()].flat();
    forms = all.toSorted((a, b) => b.length - a.length);
    shortest = forms.at(-1)?.length ?? shortest;
    tell(value);
  };
  const isIn = (text: string): boolean => {
    if (text.length < shortest) return false;
    for (const reading of readingsOf(text)) {
      for (const form of forms) if (reading.includes(form)) return true;
    }
    return false;
  };
  return {
    keep: (value) => add(kept, value),
    pass: (value) => add(passing, value),
    isIn,
    takeOut: (text) => {
      if (!isIn(text)) return text;
      const rest = forms.reduce((left, form) => left.replaceAll(form, REDACTED), text);
      // What is still there is spelled otherwise, and has no plain place to cut it out from.
      return isIn(rest) ? REDACTED : rest;
    },
  };
}
