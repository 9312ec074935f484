import type { Redactor } from '@toolkeel/pack-kit';
import { clean } from './clean.js';

/**
 * Parses JSON into what can be written as JSON again, without our own credentials. Throws a
 * SyntaxError for what is no JSON.
 */
export function parseJson(text: string, secrets?: Redactor): unknown {
  const value: unknown = clean(JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text));
  // One look at the whole text is much cheaper than one at each of its strings.
  return secrets?.contains(text) ? secrets.redactJson(value) : value;
}
