import {
  configuredPacks,
  createHost,
  createLog,
  hasRules,
  persistentPageTokens,
  loadConfig,
  openGovernance,
  prettyLines,
  type Governance,
  type Host,
  type HostLog,
  type LoadedConfig,
  type Log,
} from '@toolkeel/host';
import { choosePacks, cliPack, packNames, toolsOf } from './packs.js';
import { ownVersion, type RuntimeContext } from './runtime.js';
import { startSandboxes, type Sandboxes } from './sandboxes.js';

/** The flags that `up` and `serve` share. */
export interface ServerFlags {
  readonly profile?: string;
  readonly config?: string;
  readonly sandbox?: boolean;
  readonly withoutApproval?: boolean;
  readonly logLevel?: string;
  readonly verbose?: boolean;
  readonly pretty?: boolean;
}

export interface OpenedHost {
  readonly host: Host;
  readonly packs: readonly string[];
  readonly loaded: LoadedConfig;
  readonly sandboxes: Sandboxes | undefined;
  readonly governance: Governance;
  readonly log: HostLog;
  /** Waits for running calls, then closes everything. */
  readonly close: () => Promise<void>;
}

/** Creates the host from flags, environment and file. It does not listen yet. */
export async function openHost(
  named: readonly string[],
  flags: ServerFlags,
  runtime: RuntimeContext,
  http: { readonly host?: string; readonly port?: number } = {},
): Promise<OpenedHost> {
  const { env, cwd } = runtime;
  const location = { env, cwd, ...(flags.config !== undefined && { file: flags.config }) };
  const packs = choosePacks(named, configuredPacks(location));
  const others = packNames.filter((name) => !packs.includes(name));
  const bindings = await Promise.all(packs.map((name) => cliPack(name).load()));
  const sandboxes = flags.sandbox ? await startSandboxes(packs) : undefined;
  try {
    const loaded = loadConfig({
      ...location,
      packs: bindings,
      otherPacks: others,
      withoutApproval: flags.withoutApproval === true,
      flags: { ...configFlags(flags), http, ...(sandboxes && { journal: { url: 'memory:' } }) },
      ...(sandboxes && { packSettings: sandboxes.settings }),
    });
    const { log, flush } = logFor(loaded, flags, runtime);
    const governance = await openGovernance({
      loaded,
      log,
      tools: bindings.flatMap(({ pack }) => pack.describe()),
      // Rules may name tools of packs that this server does not run.
      ...(hasRules(loaded) && { others: await toolsOf(others) }),
    });
    const host = createHost({
      packs: packs.map(loaded.packEntry),
      log,
      version: ownVersion(),
      ...loaded.hostOptions,
      ...governance.hostOptions,
      ...(!sandboxes && { tokens: persistentPageTokens(loaded.dataDir, log) }),
    });
    const { approvalOverride } = loaded;
    if (approvalOverride) log('warn', 'acting_without_approval', { ...approvalOverride });
    const close = async (): Promise<void> => {
      await host.close(loaded.httpOptions.graceMs);
      await governance.close();
      await sandboxes?.close();
      await flush();
    };
    return { host, packs, loaded, sandboxes, governance, log, close };
  } catch (cause) {
    await sandboxes?.close();
    throw cause;
  }
}

function configFlags({
  profile,
  logLevel,
  verbose,
}: ServerFlags): Readonly<Record<string, unknown>> {
  const level = logLevel ?? (verbose ? 'debug' : undefined);
  return {
    ...(profile !== undefined && { profile }),
    ...(level !== undefined && { log: { level } }),
  };
}

function logFor(
  { config, secrets }: LoadedConfig,
  { pretty }: ServerFlags,
  { stderr }: RuntimeContext,
): Log {
  const { write, colours } = stderr;
  return createLog({
    level: config.log.level,
    scrub: secrets.scrub,
    write: pretty ? (text) => write(prettyLines(text, { colours })) : write,
  });
}
