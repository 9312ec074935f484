import type { Redactor } from '../redact/redactor.js';
import { rewriteJson } from '../rewrite-json.js';

/**
 * Parses untrusted JSON into a value that can be serialized again, with credentials redacted. Throws a
 * `SyntaxError` if it is not JSON.
 */
export function parseJson(text: string, secrets?: Redactor): unknown {
  const parsed: unknown = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  const value = rewriteJson(parsed, sanitize);
  // Searching the whole text once is much cheaper than searching each of its strings.
  return secrets?.contains(text) ? secrets.redactJson(value) : value;
}

/** Protects recursive readers of the value from a stack overflow. */
const MAX_DEPTH = 64;
const SURROGATE = /\p{Surrogate}/gu;
const HAS_SURROGATE = /\p{Surrogate}/u;

/** Replaces lone surrogates, infinite numbers and values that are nested too deeply. */
function sanitize(value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    return HAS_SURROGATE.test(value) ? value.replaceAll(SURROGATE, '\uFFFD') : value;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const isTooDeep = depth >= MAX_DEPTH && typeof value === 'object' && value !== null;
  return isTooDeep ? '[nested too deeply]' : value;
}
