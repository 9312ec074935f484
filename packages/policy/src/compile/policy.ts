import type { PolicyTool } from '../catalogue.js';
import type { Mode, PolicyProfile, RuleAction, TemplateName } from '../config/words.js';
import type { Node } from '../condition/node.js';

/** Who made a rule. Only what the template says gives way to the user's rules. */
export type RuleSource = 'hard' | 'mode' | 'user' | 'template';

export interface CompiledRule {
  /** `no links`; of others than the user `hard:…`, `mode:…`, `template:…`. */
  readonly name: string;
  readonly source: RuleSource;
  readonly action: RuleAction;
  readonly reason?: string | undefined;
  readonly expiresInMs?: number | undefined;
  /** Whether it is also about tools that only read. */
  readonly readsToo?: boolean;
  readonly condition: Node;
}

export interface CompiledLimit {
  /** `posts/day`. */
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
  readonly each?: 'account' | 'tool' | undefined;
  readonly source: 'user' | 'template';
  readonly condition: Node;
}

/** Everything that concerns one tool, with conditions that leave out what the tool has settled. */
export interface ToolPolicy {
  readonly tool: PolicyTool;
  /** What blocks it: the entry of `blockedTools`. */
  readonly blockedBy?: string | undefined;
  readonly rules: readonly CompiledRule[];
  /** What holds where no rule of the user applies. */
  readonly otherwise: CompiledRule;
  readonly limits: readonly CompiledLimit[];
}

/** Rules that were found sound, ready to be asked: see `evaluate`, `explain` and `describe`. */
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
