import { canonicalJson } from '../canonical/canonical-json.js';
import { ownMember } from '../own-member.js';
import type { Arguments } from './spec.js';

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** The arguments that a template such as `reply:{in_reply_to_id}` names, in order. */
export function templateArguments(template: string): readonly string[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '');
}

/**
 * The key that a template gives for these arguments. Values are percent-encoded, so that
 * `{a}:{b}` cannot give one key for two acts. Undefined when an argument is missing: then there is
 * nothing to tell two acts apart by, and the content decides as it does without a template.
 * Throws a CanonicalJsonError for a value that JSON cannot carry, as the fingerprint does.
 */
export function renderKey(template: string, args: Arguments): string | undefined {
  if (templateArguments(template).some((name) => ownMember(args, name) == null)) return undefined;
  return template.replaceAll(PLACEHOLDER, (_, name: string) => encode(ownMember(args, name)));
}

function encode(value: unknown): string {
  const canonical = canonicalJson(value);
  return encodeURIComponent(typeof value === 'string' ? value : canonical);
}
