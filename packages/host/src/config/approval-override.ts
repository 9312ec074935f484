import { ConfigError } from '../errors.js';
import {
  isObject,
  mergeLayers,
  pointerOf,
  type JsonObject,
  type Layer,
  type Path,
} from './layers.js';

/** A flag or an environment variable that requires fewer approvals than the layers below it. */
export interface ApprovalOverride {
  /** The flag or the variable. */
  readonly by: string;
  /** Profile and mode, such as `workflow (composer)`. */
  readonly from: string;
  readonly to: string;
}

interface Acceptance {
  /** The operator gave `--without-approval`. */
  readonly withoutApproval: boolean;
  /** All packs use local sandboxes. */
  readonly isSandbox: boolean;
}

/**
 * Returns the override that the operator accepted, if there is one. Throws a ConfigError if the operator
 * did not accept it, or if the configuration rules it out. `layers` are in ascending precedence.
 */
export function acceptedOverride(
  layers: readonly Layer[],
  { withoutApproval, isSandbox }: Acceptance,
): ApprovalOverride | undefined {
  const merged = mergeLayers(layers);
  const override = findOverride(layers, merged);
  if (!override) return undefined;
  const entries = entriesRequiringApproval(merged);
  const { by, from, to } = override;
  const refuse = (message: string) => new ConfigError([{ origin: by, pointer: '', message }]);
  if (entries.length > 0) {
    throw refuse(
      `moves the server from ${from} to ${to}, which has no approvals, but the configuration requires them. ` +
        `Drop ${by}, or change ${entries.join(', ')}.`,
    );
  }
  if (isSandbox) return undefined;
  if (withoutApproval) return override;
  throw refuse(
    `moves the server from ${from} to ${to}, which requires fewer approvals. ` +
      `Drop ${by}, or add --without-approval to act without approval.`,
  );
}

function findOverride(layers: readonly Layer[], merged: Layer): ApprovalOverride | undefined {
  // A read-only server has nothing to approve.
  if (profileOf(merged.values) === 'readonly') return undefined;
  const lower = layers.map((_, index) => mergeLayers(layers.slice(0, index)).values);
  const strictest = lower.reduce((a, b) => (strictness(b) > strictness(a) ? b : a), {});
  if (strictness(strictest) <= strictness(merged.values)) return undefined;
  const isProfile = profileOf(strictest) !== profileOf(merged.values);
  const by = merged.originOf([isProfile ? 'profile' : 'mode']);
  return { by, from: nameOf(strictest), to: nameOf(merged.values) };
}

/** The entries that the policy rejects in the `api` profile, and where they are set. */
function entriesRequiringApproval({ values, originOf }: Layer): readonly string[] {
  if (profileOf(values) !== 'api') return [];
  const { mode, template = 'open', rules } = values;
  const rulePaths = Array.isArray(rules)
    ? rules.flatMap((rule: unknown, index): Path[] =>
        isObject(rule) && rule['action'] === 'require_approval' ? [['rules', index, 'action']] : [],
      )
    : [];
  const paths: readonly Path[] = [
    ...(mode === 'composer' ? [['mode']] : []),
    ...(template === 'open' ? [] : [['template']]),
    ...rulePaths,
  ];
  return paths.map((path) => `${pointerOf(path)} (${originOf(path)})`);
}

/** 2: every mutation requires approval; 1: those that rules or a template select; 0: none. */
function strictness(values: JsonObject): number {
  if (profileOf(values) !== 'workflow') return 0;
  return modeOf(values) === 'composer' ? 2 : 1;
}

const profileOf = ({ profile = 'readonly' }: JsonObject): unknown => profile;
const modeOf = ({ mode = 'composer' }: JsonObject): unknown => mode;

function nameOf(values: JsonObject): string {
  const profile = String(profileOf(values));
  return profile === 'workflow' ? `${profile} (${String(modeOf(values))})` : profile;
}
