import { clean } from './clean.js';

/**
 * Parses JSON into what can be written as JSON again, without our own credentials. Throws a
 * SyntaxError for what is no JSON.
 */
export function parseJson(text: string, secrets: readonly string[] = []): unknown {
  return clean(JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text), secrets);
}
