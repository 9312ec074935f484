import { openServer, prettyLines, type OpenedServer } from '@toolkeel/host';
import { toolsOf, type PackCatalog, type PackFlags } from './packs.js';
import { ownVersion, type RuntimeContext } from './runtime.js';
import { startSandboxes, type Sandboxes } from './sandboxes.js';

/** The flags that `up` and `serve` share. */
export interface ServerFlags extends PackFlags {
  readonly profile?: string;
  readonly sandbox?: boolean;
  readonly withoutApproval?: boolean;
  readonly logLevel?: string;
  readonly verbose?: boolean;
  readonly pretty?: boolean;
}

export interface OpenedHost extends OpenedServer {
  readonly packs: readonly string[];
  readonly sandboxes: Sandboxes | undefined;
}

const OUT_OF_REACH =
  'Calls wait for an operator in composer mode, and the journal of --sandbox is in memory, where "toolkeel approvals" does not find them. Set "mode": "autopilot", or start the sandbox on its own: toolkeel sandbox.';

/** Creates the server from flags, environment and file. It does not listen yet. */
export async function openHost(
  catalog: PackCatalog,
  named: readonly string[],
  flags: ServerFlags,
  { env, cwd, stderr }: RuntimeContext,
  http: { readonly host?: string; readonly port?: number } = {},
): Promise<OpenedHost> {
  const { names, get, choose } = catalog;
  const packs = choose(named);
  const others = names.filter((name) => !packs.includes(name));
  const bindings = await Promise.all(packs.map((name) => get(name).load()));
  const sandboxes = flags.sandbox ? await startSandboxes(packs, undefined, get) : undefined;
  const { write, colours } = stderr;
  try {
    const server = await openServer({
      env,
      cwd,
      ...(flags.config !== undefined && { file: flags.config }),
      packs: bindings,
      otherPacks: others,
      otherTools: () => toolsOf(others, get),
      withoutApproval: flags.withoutApproval === true,
      flags: { ...configFlags(flags), http, ...(sandboxes && { journal: { url: 'memory:' } }) },
      ...(sandboxes && { packSettings: sandboxes.settings }),
      version: ownVersion(),
      writeLog: flags.pretty ? (text) => write(prettyLines(text, { colours })) : write,
      onClose: async () => sandboxes?.close(),
    });
    const { profile, mode = 'composer' } = server.loaded.config;
    if (sandboxes && profile === 'workflow' && mode === 'composer') {
      server.log('warn', 'approvals_out_of_reach', { message: OUT_OF_REACH });
    }
    return { ...server, packs, sandboxes };
  } catch (cause) {
    await sandboxes?.close();
    throw cause;
  }
}

function configFlags({ profile, ...flags }: ServerFlags): Readonly<Record<string, unknown>> {
  return { ...(profile !== undefined && { profile }), ...configLogLevel(flags) };
}

/** The log level of the flags, in the shape of the configuration. */
export function configLogLevel({
  logLevel,
  verbose,
}: Pick<ServerFlags, 'logLevel' | 'verbose'>): Readonly<Record<string, unknown>> {
  const level = logLevel ?? (verbose ? 'debug' : undefined);
  return level === undefined ? {} : { log: { level } };
}
