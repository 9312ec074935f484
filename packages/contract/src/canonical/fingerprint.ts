import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import { CONTROL_ARGUMENTS } from '../tool/control-names.js';

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
