import type { ToolEffect } from './config.js';
import type { JsonSchema } from './arguments.js';

/** A tool as rules see it. Tools of the contract and of a guarded server both fit. */
export interface PolicyTool {
  readonly name: string;
  readonly category: string;
  readonly effect: ToolEffect;
  /** JSON Schema of the arguments. Rules may use only the names that it declares. */
  readonly inputSchema: JsonSchema;
  /** False for a mutation that only adds. Default: true. */
  readonly destructive?: boolean;
  /** Arguments whose values explanations hide. */
  readonly sensitive?: readonly string[];
  /** False for a tool that never estimates its cost. Default: its cost is unknown without an estimate. */
  readonly estimatesCost?: boolean;
}

export const isMutation = ({ effect }: PolicyTool): boolean => effect !== 'read';

/** A call as rules see it. */
export interface PolicyCall {
  readonly tool: string;
  /** As the tool's schema accepted them, defaults included. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The configured account that the call acts for. */
  readonly account: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly cost?: { readonly amount: number; readonly unit: string } | undefined;
  /** An operator has approved this call: `require_approval` is satisfied, all other rules still apply. */
  readonly approved?: boolean;
}

/** A limit that a call counts towards. The caller claims it in its store, right before sending. */
export interface Limit {
  /** Calls with the same name count together. */
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
}

export type DenialCode =
  | 'policy_denied_blocked'
  | 'policy_denied_hard_rule'
  | 'policy_denied_user_rule';

/** The result of an evaluation. Explanations name arguments and never contain their values. */
export type Decision =
  /** `rule`: the user rule or the template that allows the call. */
  | { readonly kind: 'allow'; readonly rule: string; readonly limits: readonly Limit[] }
  | {
      readonly kind: 'deny';
      readonly code: DenialCode;
      readonly rule: string;
      readonly explanation: string;
    }
  | {
      readonly kind: 'approve';
      readonly rule: string;
      readonly explanation: string;
      readonly expiresInMs: number;
    }
  | { readonly kind: 'dry_run'; readonly rule: string; readonly explanation: string };
