import type { LimitRule, Mode, PolicyProfile, RuleAction, TemplateName } from './config.js';
import type { Node } from './condition/node.js';
import type { PolicyTool } from './types.js';

/** The origin of a rule. User rules replace only the template's decision. */
export type RuleSource = 'hard' | 'mode' | 'user' | 'template';

export interface CompiledRule {
  /** `no links`; prefixed with the source for others than user rules: `hard:…`, `mode:…`, `template:…`. */
  readonly name: string;
  readonly source: RuleSource;
  readonly action: RuleAction;
  readonly reason?: string | undefined;
  readonly expiresInMs?: number | undefined;
  /** Whether the rule also covers read tools. */
  readonly coversReads?: boolean;
  readonly condition: Node;
}

export interface CompiledLimit {
  /** `posts/day`. */
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
  readonly each?: 'account' | 'tool' | undefined;
  readonly source: 'user' | 'template';
  /** Whether the limit also counts calls of read tools. */
  readonly coversReads: boolean;
  readonly condition: Node;
}

/** The rules and limits of one tool, with conditions reduced to what depends on the call. */
export interface ToolPolicy {
  readonly tool: PolicyTool;
  /** The entry of `blockedTools` that blocks the tool. */
  readonly blockedBy?: string | undefined;
  readonly rules: readonly CompiledRule[];
  /** Applies where no user rule does. */
  readonly otherwise: CompiledRule;
  readonly limits: readonly CompiledLimit[];
}

/** Compiled rules, the input of `evaluate`, `explain` and `describe`. */
export interface Policy {
  readonly profile: PolicyProfile;
  readonly mode: Mode;
  readonly template: TemplateName;
  readonly approvalExpiresInMs: number;
  readonly blockedTools: readonly string[];
  readonly rules: readonly CompiledRule[];
  readonly limits: readonly CompiledLimit[];
  readonly tools: ReadonlyMap<string, ToolPolicy>;
}

/** The decision where no user rule matches. */
export interface Template {
  readonly description: string;
  /** Which mutations require approval. */
  readonly asks: 'always' | 'when_destructive' | 'never';
  /** A user limit of the same name replaces a template limit. */
  readonly limits: Readonly<Record<string, LimitRule>>;
}

export const templates: Readonly<Record<TemplateName, Template>> = Object.freeze({
  safe: {
    description: 'Every mutation requires approval; at most 20 mutations an hour.',
    asks: 'always',
    limits: { global: { perHour: 20 } },
  },
  standard: {
    description: 'Destructive mutations require approval; at most 60 mutations an hour.',
    asks: 'when_destructive',
    limits: { global: { perHour: 60 } },
  },
  open: {
    description: 'Every call is allowed unless a rule restricts it.',
    asks: 'never',
    limits: {},
  },
});

export function templateAction({ asks }: Template, { destructive = true }: PolicyTool): RuleAction {
  const isAsked = asks === 'always' || (asks === 'when_destructive' && destructive);
  return isAsked ? 'require_approval' : 'allow';
}
