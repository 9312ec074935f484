import type { ConfigIssue } from './config-error.js';
import { mergeLayers, type JsonObject, type Layer } from './layers.js';

/** A flag or an environment variable makes a server ask for fewer approvals than is configured below it. */
export interface ApprovalOverride {
  /** The flag or the variable. */
  readonly by: string;
  /** Profile and mode, such as `workflow (composer)`. */
  readonly from: string;
  readonly to: string;
}

/** `layers`: from the file up to the flags, in ascending precedence. */
export function findApprovalOverride(layers: readonly Layer[]): ApprovalOverride | undefined {
  const merged = mergeLayers(layers);
  // A server that cannot act needs no approval.
  if (profileOf(merged.values) === 'readonly') return undefined;
  const lower = layers.map((_, index) => mergeLayers(layers.slice(0, index)).values);
  const strictest = lower.reduce((one, other) => (asks(other) > asks(one) ? other : one), {});
  if (asks(strictest) <= asks(merged.values)) return undefined;
  const isProfile = profileOf(strictest) !== profileOf(merged.values);
  const by = merged.originOf([isProfile ? 'profile' : 'mode']);
  return { by, from: nameOf(strictest), to: nameOf(merged.values) };
}

export function overrideIssue({ by, from, to }: ApprovalOverride): ConfigIssue {
  const message =
    `moves the server from ${from}, which asks for approval, to ${to}, which asks for less. ` +
    `Drop ${by}, or add --without-approval to act without approval.`;
  return { origin: by, pointer: '', message };
}

/** 2: every mutation needs approval; 1: those that rules or a template name; 0: none. */
function asks(values: JsonObject): number {
  if (profileOf(values) !== 'workflow') return 0;
  return modeOf(values) === 'composer' ? 2 : 1;
}

const profileOf = ({ profile = 'readonly' }: JsonObject): unknown => profile;
const modeOf = ({ mode = 'composer' }: JsonObject): unknown => mode;

function nameOf(values: JsonObject): string {
  const profile = String(profileOf(values));
  return profile === 'workflow' ? `${profile} (${String(modeOf(values))})` : profile;
}
