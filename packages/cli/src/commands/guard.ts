import { loadConfig, prettyLines, type LoadedConfig } from '@toolkeel/host';
import { createGuard, upstreamSchema, upstreamsSchema, type UpstreamConfig } from '@toolkeel/guard';
import { consoleExtras } from '../console-extras.js';
import { UsageError } from '../errors.js';
import { configLogLevel } from '../open-host.js';
import { parseAddress } from '../options.js';
import { packNames } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';
import { withFeatures, type FeatureFlags } from './guard-features.js';
import { readHostUpstreams, type ChosenUpstream } from './host-upstreams.js';
import { formerNameOf, nameOfAddress, nameOfCommand } from './upstream-names.js';

export interface GuardFlags extends FeatureFlags {
  readonly config?: string;
  readonly upstream?: string;
  /** A client's configuration file. */
  readonly upstreams?: string;
  readonly url?: string;
  /** The variable that has the URL. */
  readonly urlEnv?: string;
  /** `Authorization=VARIABLE` */
  readonly headerEnv?: readonly string[];
  readonly name?: string;
  readonly trust?: string;
  /** `true` without an address. */
  readonly http?: string | true;
  readonly logLevel?: string;
  readonly verbose?: boolean;
  readonly pretty?: boolean;
  readonly tokens?: boolean;
  readonly json?: boolean;
}

/** Guards one MCP server or several until the client disconnects or a signal arrives. */
export async function guard(
  command: readonly string[],
  flags: GuardFlags,
  runtime: RuntimeContext,
  stopped: Promise<void>,
): Promise<number | void> {
  const { env, cwd, stderr, stdout } = runtime;
  const { http } = flags;
  const address = http === undefined || http === true ? {} : parseAddress(http);
  const loaded = loadConfig({
    env,
    cwd,
    ...(flags.config !== undefined && { file: flags.config }),
    otherPacks: packNames,
    sections: { upstreams: upstreamsSchema },
    flags: { ...configLogLevel(flags), http: address },
  });
  const chosen = chooseUpstreams(command, flags, loaded, runtime);
  const upstreams = chosen.map((one) => ({ ...one, config: withFeatures(one.config, flags) }));
  if (flags.tokens) {
    const { printTokens } = await import('./guard-tokens.js');
    const enabled = upstreams.filter(({ config }) => !config.disabled);
    return printTokens(enabled, flags, loaded, runtime);
  }
  const { write, colours } = stderr;
  const guarded = createGuard({
    loaded,
    upstreams,
    env: { ...env },
    writeLog: flags.pretty ? (text) => write(prettyLines(text, { colours })) : write,
  });
  if (http === undefined) {
    try {
      await guarded.stdio(stopped);
    } finally {
      runtime.discardOutput?.();
    }
    return;
  }
  const { url, consoleLink, close } = await guarded.listen(consoleExtras);
  stdout.write(`MCP at ${url}/mcp\n`);
  if (consoleLink) stdout.write(`Console at ${consoleLink()} (signs in once)\n`);
  try {
    await Promise.race([stopped, guarded.failed]);
  } finally {
    await close();
  }
}

/** The server that the command line names, else those of a client's file, else the configured ones. */
function chooseUpstreams(
  [program, ...args]: readonly string[],
  { upstream, upstreams, url: plainUrl, urlEnv, headerEnv = [], name, trust }: GuardFlags,
  { config }: LoadedConfig,
  runtime: RuntimeContext,
): readonly ChosenUpstream[] {
  const given = [program, plainUrl, urlEnv, upstream, upstreams].filter((one) => one !== undefined);
  if (given.length > 1) {
    throw new UsageError('Use only one of a command, --url, --upstream and --upstreams.');
  }
  const url = urlEnv === undefined ? plainUrl : addressIn(urlEnv, runtime);
  if (headerEnv.length > 0 && url === undefined) throw new UsageError('--header-env needs --url.');
  if (upstreams !== undefined) return readHostUpstreams(upstreams, runtime);
  const configured = (config.upstreams ?? {}) as Readonly<Record<string, UpstreamConfig>>;
  if (program === undefined && url === undefined) {
    const entries = Object.entries(configured).map(([key, value]) => ({
      name: key,
      config: value,
    }));
    const chosen = entries.filter((entry) => upstream === undefined || entry.name === upstream);
    if (chosen.some((entry) => !entry.config.disabled)) return chosen;
    if (chosen.length > 0) {
      const disabled = chosen.map((entry) => entry.name).join(', ');
      throw new UsageError(`No server to guard: "disabled" is set for ${disabled}.`);
    }
    const names = Object.keys(configured);
    const known = names.length === 0 ? 'none is configured' : `configured: ${names.join(', ')}`;
    throw new UsageError(
      `No server to guard (${known}). Use: toolkeel guard -- COMMAND, --url URL, --upstream NAME or --upstreams FILE.`,
    );
  }
  const headers = Object.fromEntries(headerEnv.map(parseHeader));
  const settings = program === undefined ? { url, headers } : { command: program, args };
  const parsed = upstreamSchema.safeParse({ ...settings, ...(trust !== undefined && { trust }) });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`--${issue?.path.join('.') ?? 'url'}: ${issue?.message ?? 'is invalid'}`);
  }
  if (program === undefined) {
    return [named(name, nameOfAddress(url!), new URL(url!).hostname, parsed.data)];
  }
  const derived = nameOfCommand(program, args, runtime.cwd);
  return [named(name, derived, formerNameOf(program, args), parsed.data)];
}

/** Who names a server later, or updates from a version with other names, still means its operations. */
function named(
  name: string | undefined,
  derived: string,
  former: string,
  config: UpstreamConfig,
): ChosenUpstream {
  return name === undefined
    ? { name: derived, formerNames: [former], config }
    : { name, formerNames: [derived], config };
}

/** `Authorization=VARIABLE`: arguments are visible to other processes, so they name variables only. */
function parseHeader(text: string): readonly [string, { readonly env: string }] {
  const [, header, variable] = /^([\w!#$%&'*+.^`|~-]+)=([A-Za-z_]\w*)$/.exec(text) ?? [];
  if (header === undefined || variable === undefined) {
    throw new UsageError(
      `--header-env "${text}" is not HEADER=VARIABLE. Use for example Authorization=MY_TOKEN`,
    );
  }
  return [header, { env: variable }];
}

/** Addresses may hold credentials, which arguments must not. */
function addressIn(variable: string, { env }: RuntimeContext): string {
  const found = env[variable];
  if (found !== undefined && found !== '') return found;
  throw new UsageError(`--url-env: the variable ${variable} is not set.`);
}
