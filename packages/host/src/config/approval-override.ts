import { ConfigError } from './config-error.js';
import { isObject, mergeLayers, type JsonObject, type Layer, type Merged } from './layers.js';
import { pointerOf, type Path } from './pointer.js';

/** A flag or an environment variable makes a server ask for fewer approvals than is configured below it. */
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
  /** No pack acts for real. */
  readonly isSandbox: boolean;
}

/**
 * The override that the operator accepts. Throws a ConfigError for one that the operator does not
 * accept, and for one that the configuration does not allow at all. `layers`: from the file up to the
 * flags, in ascending precedence.
 */
export function acceptedOverride(
  layers: readonly Layer[],
  { withoutApproval, isSandbox }: Acceptance,
): ApprovalOverride | undefined {
  const merged = mergeLayers(layers);
  const override = findOverride(layers, merged);
  if (!override) return undefined;
  const entries = entriesThatAsk(merged);
  const { by, from, to } = override;
  const refuse = (message: string) => new ConfigError([{ origin: by, pointer: '', message }]);
  if (entries.length > 0) {
    throw refuse(
      `moves the server from ${from} to ${to}, which cannot ask for approval, and the configuration requires approval. ` +
        `Drop ${by}, or change ${entries.join(', ')}.`,
    );
  }
  if (isSandbox) return undefined;
  if (withoutApproval) return override;
  throw refuse(
    `moves the server from ${from}, which asks for approval, to ${to}, which asks for less. ` +
      `Drop ${by}, or add --without-approval to act without approval.`,
  );
}

function findOverride(layers: readonly Layer[], merged: Merged): ApprovalOverride | undefined {
  // A server that cannot act needs no approval.
  if (profileOf(merged.values) === 'readonly') return undefined;
  const lower = layers.map((_, index) => mergeLayers(layers.slice(0, index)).values);
  const strictest = lower.reduce((one, other) => (asks(other) > asks(one) ? other : one), {});
  if (asks(strictest) <= asks(merged.values)) return undefined;
  const isProfile = profileOf(strictest) !== profileOf(merged.values);
  const by = merged.originOf([isProfile ? 'profile' : 'mode']);
  return { by, from: nameOf(strictest), to: nameOf(merged.values) };
}

/** The entries for which the policy refuses the profile `api`, and where they are set. */
function entriesThatAsk({ values, originOf }: Merged): readonly string[] {
  if (profileOf(values) !== 'api') return [];
  const { mode, template = 'open', rules } = values;
  const asking = Array.isArray(rules)
    ? rules.flatMap((rule: unknown, index): Path[] =>
        isObject(rule) && rule['action'] === 'require_approval' ? [['rules', index, 'action']] : [],
      )
    : [];
  const paths: readonly Path[] = [
    ...(mode === 'composer' ? [['mode']] : []),
    ...(template === 'open' ? [] : [['template']]),
    ...asking,
  ];
  return paths.map((path) => `${pointerOf(path)} (${originOf(path)})`);
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
