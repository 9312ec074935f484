import type { ToolSpec } from '@toolkeel/contract';
import type { Journal, JournalStore } from '@toolkeel/journal';
import type { Policy } from '@toolkeel/policy';
import { admits } from '../catalog/tools.js';
import type { LoadedConfig } from '../config/load.js';
import type { HostOptions } from '../host.js';
import type { HostLog } from '../log/log.js';
import type { ApiOptions, OperatorApi } from './api/api.js';
import { hasRules, keyTemplates, policyOf } from './compile-policy.js';
import { decideBy } from './decide.js';
import type { OperatorJournal } from './desk.js';
import { hostToolSpecs } from './host-tools.js';
import type { JournalDeps } from './journal-hooks.js';
import { lazyJournal, type LazyJournal } from './lazy-journal.js';
import { notifierOf } from './notifier.js';
import { isPersistent, openJournalStore } from './open-store.js';

export interface GovernanceOptions {
  readonly loaded: LoadedConfig;
  /** What the packs of this process describe. */
  readonly tools: readonly ToolSpec[];
  /** What else rules may speak of: tools of packs that are not in use here. */
  readonly others?: readonly ToolSpec[];
  readonly log: HostLog;
}

/** Policy and journal of one process, as the configuration says. */
export interface Governance {
  /** For `createHost`. */
  readonly hostOptions: Required<Pick<HostOptions, 'journal' | 'policy'>>;
  /** Rejects where something can be changed and it could not be written down: nobody should start then. */
  readonly ready: () => Promise<void>;
  /** For people: what was done, and what waits for them. Opens the journal. */
  readonly operatorJournal: () => Promise<OperatorJournal>;
  /** The same over HTTP, for `listen`. Whoever has the token can decide. */
  readonly api: (token: ApiOptions['token']) => Promise<OperatorApi>;
  /** After the host was closed. */
  readonly close: () => Promise<void>;
}

/**
 * Reads rules and key templates, and refuses those that cannot be meant with a ConfigError. The
 * journal itself is opened later: a server answers its first request without it.
 */
export async function openGovernance(options: GovernanceOptions): Promise<Governance> {
  const { loaded, tools, others = [], log } = options;
  const { config } = loaded;
  const known = [...tools, ...others, ...hostToolSpecs()];
  const here = tools.filter(admits(config.profile));
  const templates = keyTemplates(loaded, here, known);
  const mutates = here.some(({ mutation }) => mutation);
  const policy: Policy | (() => Promise<Policy>) =
    mutates || hasRules(loaded) ? await policyOf(loaded, known) : () => policyOf(loaded, known);

  let store: JournalStore | undefined;
  let journal: LazyJournal | undefined;
  let isClosed = false;
  const open = async (deps: JournalDeps): Promise<Journal> => {
    const { createJournal, keylessTools, ...notifiers } = await import('@toolkeel/journal');
    const decide = decideBy(typeof policy === 'function' ? await policy() : policy);
    const notify = notifierOf(loaded.notify, notifiers);
    const opened = await openJournalStore(loaded);
    if (isClosed) {
      await opened.store.close();
      throw new TypeError('it was closed before it was open');
    }
    store = opened.store;
    const { caution } = store;
    if (caution !== undefined) log('warn', 'journal_not_durable', { message: caution });
    const keyless = keylessTools(here, templates);
    if (keyless.length > 0) log('info', 'once_tools_without_key', { tools: keyless });
    return createJournal({
      ...deps,
      ...opened.journaling,
      templates,
      decide,
      ...(notify && { notify }),
    });
  };
  const made = (): LazyJournal => {
    if (!journal) throw new TypeError('the journal belongs to a host, which was not created yet');
    return journal;
  };
  const operatorJournal = async (): Promise<OperatorJournal> => {
    await made().ready();
    const { operations, approvals, counts } = made();
    return { operations, approvals, counts, store: store! };
  };
  return {
    hostOptions: {
      policy,
      journal: (deps) => {
        journal = lazyJournal({
          open: () => open(deps),
          mutates,
          keeps: isPersistent(loaded),
          log,
        });
        return journal;
      },
    },
    ready: async () => {
      if (mutates) await made().ready();
    },
    operatorJournal,
    api: async (token) => {
      const { governanceApi } = await import('./api/api.js');
      return governanceApi({ operatorJournal, token, scrub: loaded.secrets.scrub, log });
    },
    close: async () => {
      isClosed = true;
      await store?.close();
      store = undefined;
    },
  };
}
