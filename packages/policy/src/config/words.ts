/** What a rule may say, the strictest first: of all that match, the strictest decides. */
export const RULE_ACTIONS = Object.freeze([
  'deny',
  'require_approval',
  'dry_run',
  'allow',
] as const);
export type RuleAction = (typeof RULE_ACTIONS)[number];

export const TOOL_EFFECTS = Object.freeze(['read', 'idempotent', 'once'] as const);
export type ToolEffect = (typeof TOOL_EFFECTS)[number];

export const MODES = Object.freeze(['autopilot', 'composer'] as const);
export type Mode = (typeof MODES)[number];

export const TEMPLATE_NAMES = Object.freeze(['safe', 'standard', 'open'] as const);
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

/** In the order of the week, so that the day before is the one at the left. */
export const DAYS = Object.freeze(['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const);
export type Day = (typeof DAYS)[number];

/** Where rules run. Only the last two can ask a person. */
export type PolicyProfile = 'readonly' | 'api' | 'workflow' | 'guard';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
