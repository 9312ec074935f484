import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import { CONTROL_ARGUMENTS } from './tool/controls.js';
import { ownMember } from './json.js';
import type { Arguments } from './tool/spec.js';

export interface Act {
  readonly tool: string;
  readonly account: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/**
 * What makes two calls the same act when nobody named a key: SHA-256 over the canonical JSON of
 * tool, account and all arguments. Only the arguments that steer the journal itself are left out.
 * An argument that is `undefined` counts as one that was not given.
 */
export function contentHash({ tool, account, args }: Act): string {
  return sha256(canonicalJson({ tool, account, args: withoutControls(args) }));
}

function withoutControls(args: Act['args']): Act['args'] {
  const names: readonly string[] = CONTROL_ARGUMENTS;
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
}

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
