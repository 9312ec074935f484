import type { Tool } from '@toolkeel/contract';
import {
  decideBy,
  isPersistent,
  openJournalStore,
  type HostLog,
  type LoadedConfig,
} from '@toolkeel/host';
import {
  CallEngine,
  journalHooks,
  lazyJournal,
  notifierOf,
  policyOf,
  prometheusMetrics,
  readRules,
  type LazyJournal,
} from '@toolkeel/host/parts';
import type { Denial, Journal, JournalStore, ToolSource } from '@toolkeel/journal';
import { systemClock } from '@toolkeel/kernel';
import type { Policy } from '@toolkeel/policy';
import { withTickets } from './repeats.js';

export interface GovernanceOptions {
  readonly loaded: LoadedConfig;
  readonly tools: ToolSource;
  readonly log: HostLog;
  readonly undeliveredHoldMs: number;
  readonly callTimeoutMs: number;
  readonly upstreams: Parameters<typeof prometheusMetrics>[0];
}

/** The engine, the journal and the policy of a guard: the same as for packs. */
export interface GuardGovernance {
  readonly engine: CallEngine;
  readonly journal: LazyJournal;
  readonly metrics: ReturnType<typeof prometheusMetrics>['read'];
  /** Compiles the policy for the current tools. Rejects with a ConfigError if a rule does not apply. */
  readonly toolsChanged: () => Promise<void>;
  readonly close: (graceMs: number) => Promise<void>;
}

export function openGovernance(options: GovernanceOptions): GuardGovernance {
  const { loaded, tools, log } = options;
  let policy: Policy | undefined;
  let reads: ReturnType<typeof readRules> | undefined;
  let store: JournalStore | undefined;

  const counts = () => journal.counts().catch(() => undefined);
  const metrics = prometheusMetrics(options.upstreams, counts, '0.1.0');
  const recordDenial = (denial: Denial): void => {
    journal.noteDenial(denial).catch((cause: unknown) => {
      log('error', 'journal_failed', { correlation_id: denial.correlationId, cause });
    });
  };
  const engine = new CallEngine({
    profile: { name: 'api' },
    middlewareFor: (tool: Tool) => {
      if (tool.mutation) return [mutations];
      const rules = reads?.middlewareFor(tool);
      return rules ? [rules] : [];
    },
    recordCall: (row) => journal.noteCall(row),
    log,
    metrics,
    clock: systemClock,
  });
  const open = async (): Promise<Journal> => {
    const { createJournal, ...notifiers } = await import('@toolkeel/journal');
    const notify = notifierOf(loaded.notify, notifiers);
    const opened = await openJournalStore(loaded);
    store = opened.store;
    if (store.caution !== undefined) log('warn', 'journal_not_durable', { message: store.caution });
    const { undeliveredHoldMs, callTimeoutMs } = options;
    return createJournal({
      ...journalHooks(log, metrics),
      ...opened.journaling,
      tools,
      watch: engine.watch,
      decide: (call, context) => {
        if (!policy) throw new TypeError('the policy is not compiled yet');
        return decideBy(policy)(call, context);
      },
      undeliveredHoldMs,
      callTimeoutMs,
      ...(notify && { notify }),
    });
  };
  const journal = lazyJournal({ open, mutates: true, isPersistent: isPersistent(loaded), log });
  const mutations = withTickets(journal.middleware);

  return {
    engine,
    journal,
    metrics: metrics.read,
    toolsChanged: async () => {
      const { config, errorFor } = loaded;
      // Without rules every call is allowed: a guard has to work before anything is configured.
      const guarded = {
        ...config,
        mode: config.mode ?? 'autopilot',
        template: config.template ?? 'open',
      };
      policy = await policyOf({ config: guarded, errorFor }, tools.specs(), 'guard');
      reads = readRules(policy, recordDenial);
    },
    close: async (graceMs) => {
      await engine.drain(graceMs);
      await journal.close(graceMs);
      await store?.close();
    },
  };
}
