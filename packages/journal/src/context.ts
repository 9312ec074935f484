import type { AccountId } from '@toolkeel/contract';
import { systemClock, type Clock } from '@toolkeel/kernel';
import { randomUUID } from 'node:crypto';
import { createApprovedRunner } from './approvals/run-approved.js';
import { createCallRecorder, type CallRecorder } from './background/call-recorder.js';
import { createOrphanedClaims, type OrphanedClaims } from './background/maintenance.js';
import { createBlocked, type Blocked } from './blocked.js';
import { createOwnDecisions, type OwnDecisions } from './background/operator-decisions.js';
import { withDeadline } from './deadline.js';
import { createDedupKeys, type DedupKeys } from './dedup-key/dedup-key.js';
import { accountUpgrade } from './dedup-key/upgrade.js';
import type { JournalEvent } from './events.js';
import { createDeliveries, type Deliveries } from './flow/deliveries.js';
import { createDenials, type Denials } from './flow/denials.js';
import { createSettler, type Settler } from './flow/settle.js';
import type { Operation } from './operation.js';
import {
  mutationsOf,
  type Decide,
  type JournalOptions,
  type Report,
  type ToolSource,
  type Watch,
} from './options.js';
import {
  ownerEvictor,
  ownerLease as createOwnerLease,
  type OwnerLease,
} from './owner/owner-lease.js';
import { systemLiveness, type Liveness, type ProcessRef } from './owner/process.js';
import { absenceConfirmation, type ConfirmAbsence } from './reconcile/absence.js';
import type { Encryption } from './encryption/encryption.js';
import type { JournalStore } from './store/store.js';

/** The dependencies and the shared state of one journal. */
export interface JournalContext {
  readonly store: JournalStore;
  readonly encryption: Encryption;
  readonly tools: ToolSource;
  /** Undefined: every call is allowed. */
  readonly decide: Decide | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: () => string;
  readonly watch: Watch;
  readonly report: Report;
  readonly emit: (
    type: JournalEvent['type'],
    operation: Operation,
    more?: Partial<Pick<JournalEvent, 'result' | 'by' | 'elsewhere' | 'correlationId'>>,
  ) => void;

  readonly dedupKeys: DedupKeys;
  /** Names that an account had before, and that others may have had too. */
  readonly formerAccounts: (account: string) => readonly string[];
  /** Migrates the operations of earlier versions before the first claim of an account. Undefined: done. */
  readonly upgradeAccount: (account: AccountId) => Promise<void> | undefined;

  /** The lease of this process, and what it knows about the processes of other owners. */
  readonly ownerLease: OwnerLease;
  readonly liveness: Liveness;
  readonly self: ProcessRef;
  /** Ends the lease of the operation's owner if its process is dead. True: it was evicted. */
  readonly evictOwner: (operation: Operation) => Promise<boolean>;
  /** Ids of the operations that this process owns, until their settlement is written. */
  readonly running: Set<string>;
  readonly orphanedClaims: OrphanedClaims;

  readonly settler: Settler;
  readonly deliveries: Deliveries;
  readonly denials: Denials;
  readonly calls: CallRecorder;
  readonly ownDecisions: OwnDecisions;
  readonly confirmAbsence: ConfirmAbsence;
  /** Why an approved or unknown operation does not proceed. */
  readonly blocked: Blocked;
  /** Starts approved operations now instead of at the next poll. Does not wait for their end. */
  readonly runApproved: () => Promise<void>;

  /** The id of this process in the table of processes, if it reports. */
  readonly processId: string | undefined;

  /** Registers work that closing the journal waits for. */
  readonly track: (work: Promise<unknown>) => void;
  /** Resolves when the tracked work has ended, or after `graceMs`. */
  readonly drain: (graceMs: number) => Promise<void>;

  /** Maximum number of pending approvals per account. */
  readonly maxPending: number;
  readonly times: {
    readonly waitMs: number;
    readonly retentionMs: number;
    readonly deadAfterMs: number;
    readonly refusalMs: number;
    readonly callTimeoutMs: number;
    /** How long a handler may run past the caller's deadline before its operation is settled. */
    readonly lateMs: number;
    readonly undeliveredHoldMs: number;
  };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type ResolvedOptions = JournalOptions &
  Required<Pick<JournalOptions, 'leaseMs' | 'tools' | 'templates'>>;

export function createContext(options: ResolvedOptions): JournalContext {
  const { store, encryption, tools, templates, leaseMs, clock = systemClock } = options;
  const { liveness = systemLiveness, random = Math.random } = options;
  const { report, emit } = safeHooks(options);
  const self = liveness.self();
  const base = { store, clock, report };
  const ownerLease = createOwnerLease({
    ...base,
    leaseMs,
    self,
    tools: () => mutationsOf(tools),
    newId: () => newId('own'),
  });
  const dedupKeys = createDedupKeys({ templates: new Map(Object.entries(templates)), encryption });
  const settler = createSettler(base);
  const running = new Set<string>();
  const { retentionMs = 30 * DAY_MS } = options;
  const tracked = new Set<Promise<unknown>>();
  const track = (work: Promise<unknown>): void => {
    tracked.add(work);
    const done = (): void => void tracked.delete(work);
    work.then(done, done);
  };
  const process = options.process && { id: newId('prc'), describe: options.process };
  const context: JournalContext = {
    processId: process?.id,
    ...base,
    encryption,
    tools,
    decide: options.decide,
    random,
    newId: () => newId('op'),
    watch: options.watch ?? (() => () => ({ attempts: 0, waitedMs: 0 })),
    emit,
    dedupKeys,
    formerAccounts: options.formerAccounts ?? (() => []),
    upgradeAccount: accountUpgrade({ store, encryption, tools, dedupKeys }),
    ownerLease,
    liveness,
    self,
    evictOwner: ownerEvictor(store, liveness),
    running,
    orphanedClaims: createOrphanedClaims({ store, settler, ownerLease, running }),
    settler,
    deliveries: createDeliveries(base),
    denials: createDenials(base),
    calls: createCallRecorder({ ...base, process }),
    ownDecisions: createOwnDecisions(),
    confirmAbsence: absenceConfirmation(clock),
    blocked: createBlocked({ store, emit, report, track, retentionMs }),
    runApproved: () => runApproved(),
    track,
    drain: async (graceMs) => {
      await withDeadline(clock, clock.now() + graceMs, Promise.allSettled(tracked));
    },
    maxPending: options.maxPendingApprovals ?? 100,
    times: {
      waitMs: options.waitMs ?? 10_000,
      retentionMs,
      deadAfterMs: options.deadAfterMs ?? 600_000,
      refusalMs: options.refusalMs ?? DAY_MS,
      callTimeoutMs: options.callTimeoutMs ?? 60_000,
      lateMs: 30_000,
      undeliveredHoldMs: options.undeliveredHoldMs ?? 12 * HOUR_MS,
    },
  };
  const runApproved = createApprovedRunner(context);
  return context;
}

/** An unguessable id: a caller that knows the id of an operation may read its result. */
function newId(kind: string): string {
  // Node draws UUIDs in batches, which is far cheaper than randomBytes per id.
  return `${kind}_${randomUUID().replaceAll('-', '')}`;
}

/** Hooks of the application must not break an operation by throwing. */
function safeHooks(options: JournalOptions): Pick<JournalContext, 'report' | 'emit'> {
  const report: Report = (cause, correlationId, about) => {
    try {
      options.report?.(cause, correlationId, about);
    } catch {
      // The failing hook is the only place to report to.
    }
  };
  return {
    report,
    emit: (type, { id, tool, account, correlationId }, more) => {
      const event = { type, operationId: id, tool, account, correlationId, ...more };
      try {
        options.observe?.(event);
      } catch (cause) {
        report(cause, event.correlationId);
      }
    },
  };
}
