import type { PolicyIssue } from './issue.js';
import { policyJsonSchema } from './json-schema.js';
import type { PolicyConfig } from './types.js';
import { isObject, validate } from './validate.js';

export type Parsed =
  | { readonly ok: true; readonly policy: PolicyConfig }
  | { readonly ok: false; readonly issues: readonly PolicyIssue[] };

/**
 * Reads the sections of a configuration that are about policy. Whether the tools and arguments that
 * it names exist is for `compilePolicy` to say. Never throws.
 */
export function parsePolicy(json: unknown): Parsed {
  try {
    const issues = validate(policyJsonSchema, json);
    if (issues.length > 0) return { ok: false, issues };
    return { ok: true, policy: frozen(json) as PolicyConfig };
  } catch {
    // Only what is no JSON can do this: a member that throws when it is read.
    return { ok: false, issues: [{ path: [], message: 'cannot be read' }] };
  }
}

/** A copy that nobody can change any more. */
function frozen(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(frozen));
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.freeze(Object.fromEntries(members.map(([key, member]) => [key, frozen(member)])));
}
