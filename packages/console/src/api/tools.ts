import type { Effect } from './live.js';
import type { ApprovalSummary, Arguments } from './operations.js';

/** GET /api/tools */
export interface ToolsResponse {
  readonly profile: string;
  /** The tools of this process, by name. */
  readonly tools: readonly ToolInfo[];
  /** Tools of other live processes: names only. */
  readonly elsewhere: readonly {
    readonly name: string;
    readonly effect: Effect;
    readonly process_id: string;
    readonly process_name: string;
  }[];
  /** Sums over `tools`. Absent where tokens cannot be counted. */
  readonly tokens?: { readonly model: number; readonly listing: number };
}

export interface ToolInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly category: string;
  readonly version: string;
  readonly effect: Effect;
  readonly mutation: boolean;
  readonly destructive: boolean;
  readonly open_world: boolean;
  readonly profiles: readonly string[];
  readonly requires: readonly string[];
  readonly possible_error_codes: readonly {
    readonly code: string;
    readonly retryable: boolean;
    readonly meaning: string;
  }[];
  readonly sensitive: readonly string[];
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly output_schema: Readonly<Record<string, unknown>>;
  readonly input_schema_hash: string;
  readonly output_schema_hash: string;
  /** o200k tokens: what a model sees, and the whole listing. */
  readonly tokens?: { readonly model: number; readonly listing: number };
  /** Whether `try` is possible: a read of this process. */
  readonly can_try: boolean;
}

/** POST /api/tools/:name/try: calls a read tool through policy and kernel. Recorded like any call. */
export interface TryRequest {
  readonly arguments: Arguments;
}
export interface TryResponse {
  /** The envelope as an agent would see it. */
  readonly envelope: Readonly<Record<string, unknown>>;
}

/** GET /api/policy */
export interface PolicyResponse {
  readonly profile: string;
  readonly mode: string;
  readonly template: string;
  readonly template_description: string;
  readonly approval_expires_in_ms: number;
  readonly blocked_tools: readonly string[];
  /** In the order of evaluation: the strictest matching rule decides, then the first. */
  readonly rules: readonly PolicyRule[];
  readonly limits: readonly PolicyLimit[];
  /** The part of the configuration file that a replay may change, as JSON. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The file, to be edited by the operator. */
  readonly file?: string;
}

export interface PolicyRule {
  readonly name: string;
  readonly source: 'hard' | 'mode' | 'user' | 'template';
  readonly action: 'deny' | 'require_approval' | 'dry_run' | 'allow';
  /** The condition, readable. */
  readonly when: string;
  readonly reason?: string;
  /** The tools of this process that it can apply to. */
  readonly tools: readonly string[];
}

export interface PolicyLimit {
  readonly name: string;
  readonly max: number;
  readonly window_ms: number;
  readonly source: 'user' | 'template';
  readonly each?: 'account' | 'tool';
  readonly when: string;
}

/** POST /api/policy/explain: what would happen to a call. Calls nothing. */
export interface ExplainRequest {
  readonly tool: string;
  readonly arguments: Arguments;
}
export interface ExplainResponse {
  readonly tool: string;
  readonly mode: string;
  readonly template: string;
  readonly decision?: 'allow' | 'deny' | 'require_approval' | 'dry_run';
  readonly code?: string;
  readonly rule?: string;
  readonly explanation: string;
  readonly approval_expires_in_secs?: number;
  readonly limits: readonly {
    readonly name: string;
    readonly max: number;
    readonly window_secs: number;
  }[];
  readonly rules: readonly {
    readonly rule: string;
    readonly source: string;
    readonly action: string;
    readonly when: string;
    readonly matches?: string;
    readonly decides?: boolean;
    readonly conditions?: readonly {
      readonly condition: string;
      readonly holds: string;
      readonly found?: string;
    }[];
  }[];
}

/** POST /api/policy/replay: a changed policy over the operations of the journal. Changes nothing. */
export interface ReplayRequest {
  /** Replaces the sections of `PolicyResponse.config` that it names. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Default: `7d`. */
  readonly since?: string;
}
export interface ReplayResponse {
  /** Mistakes in the given rules; nothing was replayed then. */
  readonly mistakes?: readonly { readonly path: string; readonly message: string }[];
  readonly since: string;
  readonly operations: number;
  /** Not evaluated: unknown tool, or arguments that cannot be decrypted here. */
  readonly skipped: number;
  readonly now: ReplayCounts;
  readonly changed: ReplayCounts;
  /** "Would have asked 12 times and denied 3 of 40 operations." */
  readonly text: string;
  /** Operations with another decision, newest first, at most 200. */
  readonly differences: readonly {
    readonly operation_id: string;
    readonly tool: string;
    readonly created_at: string;
    readonly decisive?: ApprovalSummary['decisive'];
    readonly was: ReplayDecision;
    readonly becomes: ReplayDecision;
  }[];
}
export interface ReplayCounts {
  readonly allow: number;
  readonly require_approval: number;
  readonly dry_run: number;
  readonly deny: number;
  /** Allowed, but above a limit. */
  readonly limited: number;
}
export interface ReplayDecision {
  readonly decision: 'allow' | 'require_approval' | 'dry_run' | 'deny' | 'limited';
  readonly rule?: string;
}
