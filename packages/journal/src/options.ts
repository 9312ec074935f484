import type { AcceptedCall, Tool, ToolSpec } from '@toolkeel/contract';
import type { Clock } from '@toolkeel/kernel';
import type { JournalEvent } from './events.js';
import type { Notifier } from './notifications/sender.js';
import type { Liveness } from './owner/process.js';
import type { Encryption } from './encryption/encryption.js';
import type { CallRow, JournalStore, Limit } from './store/store.js';

/** The tools that this process has. */
export interface ToolSource {
  /** Cheap: what is known of them without creating anything. */
  readonly specs: () => readonly ToolSpec[];
  readonly load: (name: string) => Tool | undefined | Promise<Tool | undefined>;
}

/** What a policy says of a call. */
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

/** `approved`: a person has already agreed, so only what forbids or limits still counts. */
export type Decide = (
  call: AcceptedCall,
  context: { readonly approved: boolean; readonly now: number },
) => Decision | Promise<Decision>;

/** `about`: what failed, where it is not the journal itself. */
export type Report = (cause: unknown, correlationId?: string, about?: 'notice') => void;

/** Called before the work begins; what it gives is called when the work has ended. */
export type Watch = (call: {
  readonly correlationId: string;
  readonly tool: string;
}) => () => Pick<CallRow, 'attempts' | 'waitedMs'>;

export interface JournalOptions {
  readonly store: JournalStore;
  /** Keeps sensitive arguments and waiting approvals unreadable in the database. */
  readonly encryption: Encryption;
  /** For approvals, read-backs and inverses. Default: none, and then only calls are journaled. */
  readonly tools?: ToolSource;
  /** Default: everything is allowed. */
  readonly decide?: Decide;
  /** What makes two calls the same act, tool by tool: before what the tool itself says. */
  readonly templates?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly observe?: (event: JournalEvent) => void;
  /** Causes that no answer may carry: a store that failed, a hook that threw, a notice that nobody took. */
  readonly report?: Report;
  /** Counts what an approved operation asks of its upstream. Default: nobody does, and it is written as 0. */
  readonly watch?: Watch;
  readonly notify?: Notifier;
  /** How long a process that says nothing still owns what it began. Default: 15 s. */
  readonly leaseMs?: number;
  /** How long a call waits for the same operation in another process. Default: 10 s. */
  readonly waitMs?: number;
  /** How long finished operations are kept. Default: 30 days. */
  readonly retentionMs?: number;
  /** How long the content of an executed operation is held whose result was not delivered. Default: 12 h. */
  readonly undeliveredHoldMs?: number;
  /** After how long without a lease a process on another machine counts as gone. Default: 10 min. */
  readonly deadAfterMs?: number;
  /** How long a person's refusal stands for the same content. Default: 24 h. */
  readonly refusalMs?: number;
  /** How many approvals of one account may wait for a person at the same time. Default: 100. */
  readonly maxPendingApprovals?: number;
  /** The most that an approved operation may take. Default: 60 s. */
  readonly callTimeoutMs?: number;
  /** How often work is looked for: approved operations, notices. Default: 1 s. */
  readonly pollMs?: number;
  /** Who this process is, and which others still are. Default: as the system says. */
  readonly liveness?: Liveness;
}
