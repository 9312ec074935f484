import { existsSync } from 'node:fs';
import { toolError, type Tool, type ToolSpec } from '@toolkeel/contract';
import {
  createHost,
  decideAsWorkflow,
  HostError,
  isPersistent,
  journalAddress,
  journalFile,
  loadConfig,
  openJournalStore,
  POLICY_SECTIONS,
  settingsWithoutSecrets,
  type OperatorJournal,
  type LoadedConfig,
  type PackBinding,
  type PackEntry,
} from '@toolkeel/host';
import type { JournalStore, ToolSource } from '@toolkeel/journal';
import { cliPack, packNames } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';

export interface OperatorFlags {
  readonly config?: string;
  readonly json?: boolean;
}

export interface OpenedOperatorJournal extends OperatorJournal {
  readonly scrub: (text: string) => string;
  readonly specOf: (tool: string) => ToolSpec | undefined;
  readonly close: () => Promise<void>;
}

/** The journal of this installation, for people. No server has to run. */
export async function openOperatorJournal(
  flags: OperatorFlags,
  around: RuntimeContext,
): Promise<OpenedOperatorJournal> {
  const bindings = await Promise.all(packNames.map((name) => cliPack(name).load()));
  const loaded = settingsFor(flags, around, bindings);
  const { createJournal } = await import('@toolkeel/journal');
  const { store, journaling } = await openJournalStore(loaded);
  const tools = toolsOf(bindings.map((binding) => withSettings(binding, flags, around)));
  const known = new Set(tools.specs().map(({ name }) => name));
  const keys = Object.entries(loaded.config.journal.keys).filter(([name]) => known.has(name));
  const journal = createJournal({
    ...journaling,
    tools,
    templates: Object.fromEntries(keys),
    // Edits are checked here as a server checks requests.
    decide: decideAsWorkflow(loaded, tools.specs()),
    report: (cause) => {
      const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
      if (name === 'ConfigError') around.stderr.write(`toolkeel: ${message}\n`);
    },
  });
  const { operations, approvals, counts } = journal;
  return {
    operations,
    approvals,
    counts,
    store,
    scrub: loaded.secrets.scrub,
    specOf: (name) => tools.specs().find((spec) => spec.name === name),
    close: async () => {
      await journal.close();
      await store.close();
    },
  };
}

/** The store alone: the audit can be read by who does not have the key. */
export async function openAuditStore(
  flags: OperatorFlags,
  around: RuntimeContext,
): Promise<JournalStore> {
  const loaded = settingsFor(flags, around, []);
  const { openStore } = await import('@toolkeel/journal');
  return openStore(journalAddress(loaded), { dataDir: loaded.dataDir });
}

/** Where the journal is, and no more: a person who decides needs no credential of a server. */
function settingsFor(
  { config: file }: OperatorFlags,
  { env, cwd }: RuntimeContext,
  packs: readonly PackBinding[],
): LoadedConfig {
  const where = { env, cwd, ...(file !== undefined && { file }) };
  const only = ['dataDir', 'journal', 'mode', ...POLICY_SECTIONS];
  const loaded = loadConfig({ ...where, packs, packSettings: {}, only });
  if (!isPersistent(loaded)) {
    throw new HostError(
      'journal.url is memory:, which only the server itself can see. Use sqlite: or postgres:.',
    );
  }
  const path = journalFile(loaded);
  if (path !== undefined && !existsSync(path)) {
    throw new HostError(
      `There is no journal at ${path}: no server has written there yet. ` +
        'If one runs, give the same --config or TOOLKEEL_DATA_DIR as to it.',
    );
  }
  return loaded;
}

/** Whatever the servers have. */
const profile = { name: 'workflow', mode: 'composer', approvalMode: true } as const;

/** With its prices, say, so that a person is told what a server would say. */
function withSettings(
  { pack }: PackBinding,
  { config: file }: OperatorFlags,
  { env, cwd }: RuntimeContext,
): PackEntry {
  const where = { env, cwd, ...(file !== undefined && { file }) };
  const config = settingsWithoutSecrets(pack.name, where);
  return pack.configSchema.safeParse(config).success ? { pack, config } : { pack };
}

/** With what a pack can do without credentials; else with its descriptions. */
function toolsOf(entries: readonly PackEntry[]): ToolSource {
  const specs = entries.flatMap(({ pack }) => pack.describe());
  const load = async (name: string): Promise<Tool | undefined> => {
    const spec = specs.find((one) => one.name === name);
    const owner = entries.find(({ pack }) => pack.describe().some((one) => one.name === name));
    if (!spec || !owner) return undefined;
    try {
      return await createHost({ packs: [owner], profile }).toolSource.load(name);
    } catch {
      return described(spec);
    }
  };
  return { specs: () => specs, load };
}

function described(spec: ToolSpec): Tool {
  return {
    ...spec,
    handler: () => {
      throw new TypeError(`${spec.name} cannot be run here`);
    },
    check: () =>
      toolError('internal_error', 'its pack cannot be created here, so its checks cannot run'),
  };
}
