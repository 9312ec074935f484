import { acceptControls, type PackRecords, type ToolSpec } from '@toolkeel/contract';
import type { Decide, Journal, JournalStore } from '@toolkeel/journal';
import { getOperationTool } from '@toolkeel/journal/tools';
import type { Policy } from '@toolkeel/policy';
import { admits } from '../catalog/tools.js';
import type { LoadedConfig } from '../config/load.js';
import { POLICY_SECTIONS } from '../config/schema.js';
import type { Console, ConsoleExtras, ConsoleHost, ConsoleOptions } from '../console/console.js';
import type { HostOptions } from '../host.js';
import type { HostLog } from '../log/log.js';
import { lazyJournal, lazyRecords, type JournalDeps, type LazyJournal } from './journal.js';
import { notifierOf } from './notifier.js';
import type { OperatorJournal } from './operator.js';
import { policyStatusTool } from './policy-status.js';
import { decideBy, hasRules, keyTemplates, policyOf, type PolicyInput } from './policy.js';
import { isPersistent, openJournalStore } from './store.js';

export interface GovernanceOptions {
  readonly loaded: LoadedConfig;
  /** The tools of the packs in this process. */
  readonly tools: readonly ToolSpec[];
  /** Tools of other packs, which rules may name. */
  readonly others?: readonly ToolSpec[];
  readonly log: HostLog;
}

/** The policy and the journal of a process, from its configuration. */
export interface Governance {
  /** For `createHost`. */
  readonly hostOptions: Required<Pick<HostOptions, 'journal' | 'policy' | 'records'>>;
  /** Opens the journal if a mutation is registered. Rejects if it fails: the server must not start then. */
  readonly ready: () => Promise<void>;
  /** For operators. Opens the journal. */
  readonly operatorJournal: () => Promise<OperatorJournal>;
  /** The console and its API over HTTP, for `listen`. The token grants the right to decide. */
  readonly console: (
    token: ConsoleOptions['token'],
    host: ConsoleHost,
    extras?: ConsoleExtras,
  ) => Promise<Console>;
  /** Closes the store. Call it after the host is closed. */
  readonly close: () => Promise<void>;
}

/**
 * Compiles the policy and the dedup key templates, and throws a ConfigError if they are invalid. The
 * journal is opened later, so that it does not delay the first response of a server.
 */
export async function openGovernance(options: GovernanceOptions): Promise<Governance> {
  const { loaded, tools, others = [], log } = options;
  const known = [...tools, ...others, ...hostToolSpecs()];
  const isAdmitted = admits(loaded.config.profile);
  const registered = tools.filter(
    (tool) => isAdmitted(tool) && !loaded.excludedTools.has(tool.name),
  );
  const templates = keyTemplates(loaded, registered, known);
  const mutates = registered.some(({ mutation }) => mutation);
  const policy: Policy | (() => Promise<Policy>) =
    mutates || hasRules(loaded) ? await policyOf(loaded, known) : () => policyOf(loaded, known);

  let store: JournalStore | undefined;
  let records: ((pack: string) => PackRecords) | undefined;
  let journal: LazyJournal | undefined;
  let isClosed = false;
  const open = async (deps: JournalDeps): Promise<Journal> => {
    const { createJournal, keylessTools, packRecords, ...notifiers } =
      await import('@toolkeel/journal');
    const decide = decideBy(typeof policy === 'function' ? await policy() : policy);
    const notify = notifierOf(loaded.notify, notifiers);
    const opened = await openJournalStore(loaded);
    if (isClosed) {
      await opened.store.close();
      throw new TypeError('the journal was closed while it was being opened');
    }
    store = opened.store;
    const { encryption } = opened;
    const { scrub } = loaded.secrets;
    records = (pack) => packRecords({ store: opened.store, encryption, pack, scrub });
    const { caution } = store;
    if (caution !== undefined) log('warn', 'journal_not_durable', { message: caution });
    const keyless = keylessTools(registered, templates);
    if (keyless.length > 0) log('info', 'once_tools_without_key', { tools: keyless });
    return createJournal({
      ...deps,
      ...opened.journaling,
      templates,
      decide,
      ...(notify && { notify }),
    });
  };
  const createdJournal = (): LazyJournal => {
    if (!journal) throw new TypeError('the journal does not exist before its host is created');
    return journal;
  };
  const operatorJournal = async (): Promise<OperatorJournal> => {
    await createdJournal().ready();
    const { operations, approvals, counts, processId, flushCalls } = createdJournal();
    return { operations, approvals, counts, processId, flushCalls, store: store! };
  };
  return {
    hostOptions: {
      policy,
      journal: (deps) => {
        journal = lazyJournal({
          open: () => open(deps),
          mutates,
          isPersistent: isPersistent(loaded),
          log,
        });
        return journal;
      },
      records: (pack) =>
        lazyRecords(async () => {
          await createdJournal().ready();
          return records!(pack);
        }),
    },
    ready: async () => {
      if (mutates) await createdJournal().ready();
    },
    operatorJournal,
    console: async (token, host, extras) => {
      const { createConsole } = await import('../console/console.js');
      const { config, file, secrets } = loaded;
      return createConsole({
        ...extras,
        journal: operatorJournal,
        token,
        scrub: secrets.scrub,
        log,
        host,
        policy: {
          policy: async () => (typeof policy === 'function' ? policy() : policy),
          config: Object.fromEntries(
            (['mode', ...POLICY_SECTIONS] as const)
              .filter((name) => config[name] !== undefined)
              .map((name) => [name, config[name]]),
          ),
          compile: async (changed) => {
            const { compilePolicy } = await import('@toolkeel/policy');
            const { profile } = config;
            return compilePolicy(changed, { profile, tools: known.map(acceptControls) });
          },
          file,
        },
      });
    },
    close: async () => {
      isClosed = true;
      await store?.close();
      store = undefined;
    },
  };
}

/**
 * The decision hook of a process that executes nothing and validates the edits of operators. It always
 * uses the `workflow` profile, the only one with approvals. Compiled on first use; rejects if the rules
 * are invalid.
 */
export function decideAsWorkflow(loaded: PolicyInput, tools: readonly ToolSpec[]): Decide {
  let decide: Promise<Decide> | undefined;
  const { config, errorFor } = loaded;
  const workflow: PolicyInput = { config: { ...config, profile: 'workflow' }, errorFor };
  return async (call, context) => {
    decide ??= policyOf(workflow, [...tools, ...hostToolSpecs()]).then(decideBy);
    return (await decide)(call, context);
  };
}

/** The tools that a host with a journal and a policy registers besides those of its packs. */
export function hostToolSpecs(): readonly ToolSpec[] {
  const unavailable = () => Promise.reject(new TypeError('only the description is available'));
  return [
    getOperationTool({ show: unavailable }),
    policyStatusTool(unavailable, { specs: () => [], load: unavailable }),
  ];
}
