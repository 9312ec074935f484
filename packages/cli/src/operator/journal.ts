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
  packSettings,
  type OperatorJournal,
  type LoadedConfig,
  type PackBinding,
  type PackEntry,
} from '@toolkeel/host';
import type { JournalStore, ToolSource } from '@toolkeel/journal';
import { openCatalog, type PackFlags } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';

export interface OperatorFlags extends PackFlags {
  readonly json?: boolean;
}

export interface OpenedOperatorJournal extends OperatorJournal {
  readonly scrub: (text: string) => string;
  readonly specOf: (tool: string) => ToolSpec | undefined;
  readonly close: () => Promise<void>;
}

/** Opens the journal of this installation for the operator. No server has to run. */
export async function openOperatorJournal(
  flags: OperatorFlags,
  runtime: RuntimeContext,
): Promise<OpenedOperatorJournal> {
  const { names, get } = await openCatalog(flags, runtime);
  const bindings = await Promise.all(names.map((name) => get(name).load()));
  const loaded = loadJournalConfig(flags, runtime, bindings);
  const { createJournal } = await import('@toolkeel/journal');
  const { store, journaling } = await openJournalStore(loaded);
  const tools = toolsOf(bindings.map((binding) => withSettings(binding, flags, runtime)));
  const known = new Set(tools.specs().map(({ name }) => name));
  const keys = Object.entries(loaded.config.journal.keys).filter(([name]) => known.has(name));
  const journal = createJournal({
    ...journaling,
    tools,
    templates: Object.fromEntries(keys),
    // Edits are checked as a server checks requests.
    decide: decideAsWorkflow(loaded, tools.specs()),
    report: (cause) => {
      const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
      if (name === 'ConfigError') runtime.stderr.write(`toolkeel: ${message}\n`);
    },
  });
  const { operations, approvals, counts, processId, flushCalls } = journal;
  return {
    processId,
    flushCalls,
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

/** The data directory of this installation. */
export function operatorDataDir(flags: OperatorFlags, runtime: RuntimeContext): string {
  return loadLocation(flags, runtime, []).dataDir;
}

/** Opens only the store: reading the audit does not require the key. */
export async function openAuditStore(
  flags: OperatorFlags,
  runtime: RuntimeContext,
): Promise<JournalStore> {
  const loaded = loadJournalConfig(flags, runtime, []);
  const { openStore } = await import('@toolkeel/journal');
  return openStore(journalAddress(loaded), { dataDir: loaded.dataDir });
}

/** Loads only the journal's location and the policy: the operator needs no credential of a server. */
function loadJournalConfig(
  { config: file }: OperatorFlags,
  { env, cwd }: RuntimeContext,
  packs: readonly PackBinding[],
): LoadedConfig {
  const loaded = loadLocation({ config: file }, { env, cwd }, packs);
  if (!isPersistent(loaded)) {
    throw new HostError(
      'The journal is in the memory of the server (journal.url is memory:) and cannot be opened. Use sqlite: or postgres:.',
    );
  }
  const path = journalFile(loaded);
  if (path !== undefined && !existsSync(path)) {
    throw new HostError(
      `There is no journal at ${path}: no server has created one yet. ` +
        'Use the same --config or TOOLKEEL_DATA_DIR as the server. ' +
        'A server that was started with --sandbox has its journal in memory, which no command can open: ' +
        'start toolkeel sandbox and a server with the settings that it prints instead.',
    );
  }
  return loaded;
}

function loadLocation(
  { config: file }: { readonly config?: string | undefined },
  { env, cwd }: Pick<RuntimeContext, 'env' | 'cwd'>,
  packs: readonly PackBinding[],
): LoadedConfig {
  const location = { env, cwd, ...(file !== undefined && { file }) };
  const only = ['dataDir', 'journal', 'mode', ...POLICY_SECTIONS];
  return loadConfig({ ...location, packs, packSettings: {}, only });
}

/** Covers the tools of every profile. */
const profile = { name: 'workflow', mode: 'composer', approvalMode: true } as const;

/** The pack with its settings, such as prices, so that estimates match those of a server. */
function withSettings(
  { pack }: PackBinding,
  { config: file }: OperatorFlags,
  { env, cwd }: RuntimeContext,
): PackEntry {
  const location = { env, cwd, ...(file !== undefined && { file }) };
  const { settings, withoutSecrets } = packSettings(pack.name, location);
  // The checks of a tool need no credentials; a schema may require them nevertheless.
  const config = [withoutSecrets, settings].find(
    (candidate) => pack.configSchema.safeParse(candidate).success,
  );
  return config === undefined ? { pack } : { pack, config };
}

/** Loads tools without credentials where the pack supports it; otherwise only their descriptions. */
function toolsOf(entries: readonly PackEntry[]): ToolSource {
  const specs = entries.flatMap(({ pack }) => pack.describe());
  const names = specs.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  // A decision must not be checked by the tool of another pack.
  if (twice !== undefined) throw new HostError(`Two packs have a tool named ${twice}: rename one.`);
  const load = async (name: string): Promise<Tool | undefined> => {
    const spec = specs.find((candidate) => candidate.name === name);
    const owner = entries.find(({ pack }) => pack.describe().some((tool) => tool.name === name));
    if (!spec || !owner) return undefined;
    try {
      return await createHost({ packs: [owner], profile }).toolSource.load(name);
    } catch (error) {
      return withoutHandler(spec, error);
    }
  };
  return { specs: () => specs, load };
}

function withoutHandler(spec: ToolSpec, cause: unknown): Tool {
  const reason = cause instanceof HostError ? ` (${cause.message})` : '';
  return {
    ...spec,
    handler: () => {
      throw new TypeError(`${spec.name} cannot run in this process`);
    },
    check: () =>
      toolError(
        'internal_error',
        `its pack cannot be created in this process${reason}, so its checks cannot run; use the /api of a running server`,
      ),
  };
}
