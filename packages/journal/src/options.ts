import type { AcceptedCall, DelegatingCall, Tool, ToolSpec } from '@toolkeel/contract';
import type { Clock } from '@toolkeel/kernel';
import type { JournalEvent } from './events.js';
import type { Notifier } from './notifications/sender.js';
import type { Liveness } from './owner/process.js';
import type { Encryption } from './encryption/encryption.js';
import type { CallRow } from './store/activity.js';
import type { JournalStore, Limit } from './store/store.js';

/** The tools of this process. */
export interface ToolSource {
  /** Must be cheap: it creates no client and loads no pack. */
  readonly specs: () => readonly ToolSpec[];
  readonly load: (name: string) => Tool | undefined | Promise<Tool | undefined>;
}

/** The names of the tools that change something. */
export function mutationsOf(tools: ToolSource): readonly string[] {
  return tools
    .specs()
    .filter(({ mutation }) => mutation)
    .map(({ name }) => name);
}

/** The policy's decision on a call. */
export type Decision =
  | { readonly kind: 'allow'; readonly rule?: string; readonly limits: readonly Limit[] }
  | {
      readonly kind: 'deny';
      readonly code:
        | 'policy_denied_blocked'
        | 'policy_denied_hard_rule'
        | 'policy_denied_user_rule';
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

/** Evaluates the policy. `approved`: an operator has approved the call, so only denials and limits apply. */
export type Decide = (
  call: AcceptedCall,
  context: {
    readonly approved: boolean;
    readonly now: number;
    /** Calls of tools that act through this one: their rules and limits apply too. */
    readonly onBehalfOf?: readonly DelegatingCall[] | undefined;
  },
) => Decision | Promise<Decision>;

/** Receives causes that an answer must not carry. `about`: the component that failed, if not the journal. */
export type Report = (
  cause: unknown,
  correlationId?: string,
  about?: 'notice' | 'read_back',
) => void;

/** Called before an approved operation runs; the function it returns is called after the run. */
export type Watch = (call: {
  readonly correlationId: string;
  readonly tool: string;
}) => () => Pick<CallRow, 'attempts' | 'waitedMs' | 'timeline'>;

/**
 * Describes this process for the console, as JSON-compatible values: `info` rarely changes, `state` may
 * change every second. Called about once a second.
 */
export type DescribeProcess = () => { readonly info: object; readonly state: object };

export interface JournalOptions {
  readonly store: JournalStore;
  /** Encrypts sensitive arguments and pending approvals at rest. */
  readonly encryption: Encryption;
  /** Needed to execute approved operations, to read back and to match inverses. Default: no tools. */
  readonly tools?: ToolSource;
  /** Default: every call is allowed. */
  readonly decide?: Decide;
  /** Dedup key templates by tool name, such as `reply:{in_reply_to_id}`. They override a tool's own. */
  readonly templates?: Readonly<Record<string, string>>;
  /**
   * Names that an account had before, and that others may have had too. While an operation of one of them
   * would answer a call, the call belongs to that account. Default: none.
   */
  readonly formerAccounts?: (account: string) => readonly string[];
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly observe?: (event: JournalEvent) => void;
  /** Receives store failures, exceptions of hooks and failed notifications. */
  readonly report?: Report;
  /** Counts the upstream requests of an approved operation. Default: recorded as 0. */
  readonly watch?: Watch;
  /** Default: this process does not appear among the processes of the journal. */
  readonly process?: DescribeProcess;
  readonly notify?: Notifier;
  /** Lease of an owner process; renewed at a third of it. Default: 15 s. */
  readonly leaseMs?: number;
  /** Wait budget of a call for the same operation in another process. Default: 10 s. */
  readonly waitMs?: number;
  /** Retention of settled operations. Default: 30 days. */
  readonly retentionMs?: number;
  /** How long an executed `once` operation holds its content while its result is undelivered. Default: 12 h. */
  readonly undeliveredHoldMs?: number;
  /** Time after lease expiry at which a process on another machine counts as dead. Default: 10 min. */
  readonly deadAfterMs?: number;
  /** How long a rejected approval holds its dedup key. Default: 24 h. */
  readonly refusalMs?: number;
  /** Maximum number of pending approvals per account. Default: 100. */
  readonly maxPendingApprovals?: number;
  /** Timeout of an approved operation. Default: 60 s. */
  readonly callTimeoutMs?: number;
  /** Polling interval for approved operations and notifications. Default: 1 s. */
  readonly pollMs?: number;
  /** Identifies this process and tells live processes from dead ones. Default: the operating system's view. */
  readonly liveness?: Liveness;
}
