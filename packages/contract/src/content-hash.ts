import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import { CONTROL_ARGUMENTS } from './tool/controls.js';
import { ownMember } from './json.js';
import type { Arguments } from './tool/spec.js';

/** What identifies an act by its content. */
export interface Act {
  readonly tool: string;
  readonly account: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/**
 * The dedup key of a call without an explicit key or template: SHA-256 over the canonical JSON of tool,
 * account and all arguments except the journal's control arguments. An `undefined` argument counts as
 * absent.
 */
export function contentHash({ tool, account, args }: Act): string {
  return sha256(canonicalJson({ tool, account, args: withoutControls(args) }));
}

function withoutControls(args: Act['args']): Act['args'] {
  const names: readonly string[] = CONTROL_ARGUMENTS;
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
}

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** The argument names in a template such as `reply:{in_reply_to_id}`, in order. */
export function templateArguments(template: string): readonly string[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '');
}

/**
 * Renders a key template. Values are percent-encoded, so that `{a}:{b}` is unambiguous. Undefined if an
 * argument is missing: the content hash then identifies the act. Throws a CanonicalJsonError for a
 * value that JSON cannot represent, as `contentHash` does.
 */
export function renderKey(template: string, args: Arguments): string | undefined {
  if (templateArguments(template).some((name) => ownMember(args, name) == null)) return undefined;
  return template.replaceAll(PLACEHOLDER, (_, name: string) => encode(ownMember(args, name)));
}

function encode(value: unknown): string {
  const canonical = canonicalJson(value);
  return encodeURIComponent(typeof value === 'string' ? value : canonical);
}
