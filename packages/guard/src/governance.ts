import {
  acceptControls,
  type Admit,
  type Tool,
  type ToolSpec,
  type UpstreamState,
} from '@toolkeel/contract';
import {
  decideBy,
  isPersistent,
  openJournalStore,
  POLICY_SECTIONS,
  type HostLog,
  type LoadedConfig,
} from '@toolkeel/host';
import {
  CallEngine,
  createConsole,
  journalHooks,
  lazyJournal,
  notifierOf,
  policyOf,
  processDescription,
  prometheusMetrics,
  readRules,
  UpstreamMonitor,
  type Console,
  type ConsoleExtras,
  type LazyJournal,
  type Reachability,
} from '@toolkeel/host/parts';
import type { Denial, Journal, JournalStore, ToolSource } from '@toolkeel/journal';
import { systemClock } from '@toolkeel/kernel';
import type { Policy } from '@toolkeel/policy';
import { withTickets } from './repeats.js';
import { expectedTools, withNamedArguments } from './rule-names.js';

export interface GovernanceOptions {
  readonly loaded: LoadedConfig;
  readonly tools: ToolSource;
  readonly log: HostLog;
  readonly undeliveredHoldMs: number;
  readonly callTimeoutMs: number;
  /** The names of the guarded servers. */
  readonly name: string;
  /** Names that an account had before. */
  readonly formerAccounts: (account: string) => readonly string[];
  readonly upstreams: () => readonly UpstreamState[];
  readonly reachability: Reachability;
}

/** The engine, the journal and the policy of a guard: the same as for packs. */
export interface GuardGovernance {
  readonly engine: CallEngine;
  readonly journal: LazyJournal;
  readonly metrics: ReturnType<typeof prometheusMetrics>['read'];
  /** Decides about a call of a read at once. Undefined: it has to go through the engine. */
  readonly admitRead: (tool: Tool) => Admit | undefined;
  /**
   * Compiles the policy for the current tools. Rejects with a ConfigError if a rule does not apply; if
   * tools are still missing, rules may name others.
   */
  readonly toolsChanged: (isComplete: boolean) => Promise<void>;
  /** The console and its API, for a guard that serves over HTTP. */
  readonly console: (
    token: { readonly reveal: () => string },
    extras: ConsoleExtras,
  ) => Promise<Console>;
  /** Resolves when no call is in flight. After `graceMs`, the remaining calls are ended. */
  readonly drain: (graceMs: number) => Promise<void>;
  readonly close: (graceMs: number) => Promise<void>;
}

const withoutControls = (tool: ToolSpec): ToolSpec => ({ ...tool, controls: true });
const ALLOW: Admit = () => undefined;
const VERSION = '0.1.0';

export function openGovernance(options: GovernanceOptions): GuardGovernance {
  const { loaded, tools, log, name, reachability } = options;
  let policy: Policy | undefined;
  let reads: ReturnType<typeof readRules> | undefined;
  let store: JournalStore | undefined;

  const pending = () => journal.counts().catch(() => undefined);
  const metrics = prometheusMetrics(() => Promise.resolve(options.upstreams()), pending, VERSION);
  const monitor = new UpstreamMonitor();
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
    admitFor: (tool) => (tool.mutation ? undefined : reads?.admitFor(tool)),
    recordCall: (row) => journal.noteCall(row),
    scrub: loaded.secrets.scrub,
    monitor,
    log,
    metrics,
    clock: systemClock,
    // Hosts keep the stderr of their servers, and the journal has a record of every call.
    plainReadLevel: 'debug',
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
      process: processDescription({
        name,
        kind: 'guard',
        version: VERSION,
        profile: 'guard',
        reachability,
        packs: () => [{ name, specs: tools.specs(), upstreams: options.upstreams() }],
        engine: () => engine,
        monitor,
      }),
      decide: (call, context) => {
        if (!policy) throw new TypeError('the policy is not compiled yet');
        return decideBy(policy)(call, context);
      },
      formerAccounts: options.formerAccounts,
      undeliveredHoldMs,
      callTimeoutMs,
      ...(notify && { notify }),
    });
  };
  const journal = lazyJournal({ open, mutates: true, isPersistent: isPersistent(loaded), log });
  const mutations = withTickets(journal.middleware);
  // Without rules every call is allowed: a guard has to work before anything is configured.
  const guarded = {
    ...loaded.config,
    mode: loaded.config.mode ?? 'autopilot',
    template: loaded.config.template ?? 'open',
  } as const;

  const compile = async (specs: readonly ToolSpec[]): Promise<Policy> => {
    const input = { config: guarded, errorFor: loaded.errorFor };
    try {
      return await policyOf(input, specs, 'guard');
    } catch (cause) {
      const named = withNamedArguments(guarded, specs);
      const opened = await policyOf(input, named, 'guard').catch(() => undefined);
      // Without the arguments of packs, which a message would list as known ones.
      if (!opened) return policyOf(input, named.map(withoutControls), 'guard');
      const { message } = cause as Error;
      log('warn', 'guard_rule_argument_unlisted', { message });
      return opened;
    }
  };

  return {
    engine,
    journal,
    metrics: metrics.read,
    admitRead: (tool) => {
      if (!reads || tool.mutation) return undefined;
      return reads.middlewareFor(tool) ? reads.admitFor(tool) : ALLOW;
    },
    toolsChanged: async (isComplete) => {
      const specs = tools.specs();
      const expected = isComplete ? [] : expectedTools(guarded, specs);
      policy = await compile([...expected, ...specs]);
      reads = readRules(policy, recordDenial);
    },
    console: async (token, extras) => {
      const settings = Object.fromEntries(
        (['mode', ...POLICY_SECTIONS] as const)
          .filter((section) => guarded[section] !== undefined)
          .map((section) => [section, guarded[section]]),
      );
      return createConsole({
        ...extras,
        token,
        log,
        scrub: loaded.secrets.scrub,
        journal: async () => {
          await journal.ready();
          const { operations, approvals, counts, processId, flushCalls } = journal;
          return { operations, approvals, counts, processId, flushCalls, store: store! };
        },
        host: {
          profile: 'guard',
          version: VERSION,
          source: tools,
          specs: () => tools.specs(),
          reachability,
        },
        policy: {
          policy: async () => {
            if (policy) return policy;
            return policyOf({ config: guarded, errorFor: loaded.errorFor }, tools.specs(), 'guard');
          },
          config: settings,
          compile: async (changed) => {
            const { compilePolicy } = await import('@toolkeel/policy');
            const known = tools.specs().map(acceptControls);
            return compilePolicy(changed, { profile: 'guard', tools: known });
          },
          file: loaded.file,
        },
      });
    },
    drain: (graceMs) => engine.drain(graceMs),
    close: async (graceMs) => {
      await engine.drain(graceMs);
      await journal.close(graceMs);
      await store?.close();
    },
  };
}
