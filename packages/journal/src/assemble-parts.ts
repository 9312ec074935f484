import { systemClock } from '@toolkeel/kernel';
import { randomUUID } from 'node:crypto';
import { ownWords } from './background/own-words.js';
import type { JournalEvent } from './events.js';
import { within } from './flow/bounded.js';
import { deliveries } from './flow/deliveries.js';
import { denials } from './flow/denials.js';
import type { FlowParts } from './flow/parts.js';
import { settler } from './flow/settler.js';
import { undoneBy } from './flow/undone.js';
import { identities } from './identity/identity.js';
import { hashUpgrade } from './identity/upgrade.js';
import type { Kit } from './kit.js';
import type { Operation } from './operation.js';
import type { JournalOptions } from './options.js';
import { ownerEvictor, ownerLease } from './owner/owner-lease.js';
import { systemLiveness } from './owner/process.js';
import { absenceRule } from './reconcile/absence.js';
import { confirmations } from './reconcile/confirmations.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Given = JournalOptions & Required<Pick<JournalOptions, 'leaseMs' | 'tools' | 'templates'>>;

interface Assembled {
  readonly kit: Kit;
  readonly parts: FlowParts;
  /** Resolves when no handler runs any more, or after so long. */
  readonly drained: (graceMs: number) => Promise<void>;
  /** Whether the store failed, since this was last asked, when it may have given us something. */
  readonly isSuspected: () => boolean;
}

export function assembleParts(options: Given): Assembled {
  const { liveness = systemLiveness } = options;
  let suspected = false;
  const kit = kitOf(options, () => {
    suspected = true;
  });
  const { clock, store } = kit;
  const atWork = new Set<Promise<unknown>>();
  const note = (type: JournalEvent['type'], operation: Operation, more = {}): void => {
    const { id, tool, account, correlationId } = operation;
    kit.observe({ type, operationId: id, tool, account, correlationId, ...more });
  };
  const parts: FlowParts = {
    kit,
    settler: settler(kit),
    absence: absenceRule(kit, liveness),
    confirmations: confirmations(clock),
    undone: undoneBy(kit),
    evictOwner: ownerEvictor(store, liveness),
    noteUnknown: (operation) => note('operation_unknown', operation),
    noteReconciled: (operation, result, by) =>
      note('operation_reconciled', operation, { result, by }),
    track: (work) => {
      atWork.add(work);
      const done = (): void => void atWork.delete(work);
      work.then(done, done);
    },
  };
  return {
    kit,
    parts,
    isSuspected: () => {
      const was = suspected;
      suspected = false;
      return was;
    },
    drained: async (graceMs) => {
      await within(clock, clock.now() + graceMs, Promise.allSettled(atWork));
    },
  };
}

function kitOf(options: Given, suspect: () => void): Kit {
  const { store, encryption, tools, templates, leaseMs, clock = systemClock } = options;
  const { liveness = systemLiveness, random = Math.random } = options;
  const { report, observe } = safeHooks(options);
  const mutations = (): readonly string[] =>
    tools
      .specs()
      .filter(({ mutation }) => mutation)
      .map(({ name }) => name);
  const named = identities({ templates: new Map(Object.entries(templates)), encryption });
  return {
    store,
    encryption,
    tools,
    decide: options.decide,
    clock,
    random,
    identities: named,
    deliveries: deliveries({ store, clock, report }),
    denials: denials({ store, clock, report }),
    upgrade: hashUpgrade({ store, encryption, tools, identities: named }),
    tenure: ownerLease({
      store,
      clock,
      leaseMs,
      report,
      self: liveness.self(),
      tools: mutations,
      newId: () => newId('own'),
    }),
    report,
    observe,
    watch: options.watch ?? (() => () => ({ attempts: 0, waitedMs: 0 })),
    suspect,
    newId: () => newId('op'),
    running: new Set(),
    maxPending: options.maxPendingApprovals ?? 100,
    ownWords: ownWords(),
    times: {
      waitMs: options.waitMs ?? 10_000,
      retentionMs: options.retentionMs ?? 30 * DAY_MS,
      deadAfterMs: options.deadAfterMs ?? 600_000,
      refusalMs: options.refusalMs ?? DAY_MS,
      callTimeoutMs: options.callTimeoutMs ?? 60_000,
      lateMs: 30_000,
      undeliveredHoldMs: options.undeliveredHoldMs ?? 12 * HOUR_MS,
    },
  };
}

/** Nobody can guess one, so who knows it may ask for it. */
function newId(kind: string): string {
  // Node draws these many at a time, which makes them far cheaper than bytes of our own.
  return `${kind}_${randomUUID().replaceAll('-', '')}`;
}

/** A hook that throws must not take an operation with it. */
function safeHooks(options: JournalOptions): Pick<Kit, 'report' | 'observe'> {
  const report: Kit['report'] = (cause, correlationId, about) => {
    try {
      options.report?.(cause, correlationId, about);
    } catch {
      // There is nobody left to tell.
    }
  };
  return {
    report,
    observe: (event) => {
      try {
        options.observe?.(event);
      } catch (cause) {
        report(cause, event.correlationId);
      }
    },
  };
}
