import { loadConfig, prettyLines, type LoadedConfig } from '@toolkeel/host';
import { createGuard, upstreamSchema, upstreamsSchema, type UpstreamConfig } from '@toolkeel/guard';
import { UsageError } from '../errors.js';
import { configLogLevel } from '../open-host.js';
import { parseAddress } from '../options.js';
import { packNames } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';

export interface GuardFlags {
  readonly config?: string;
  readonly upstream?: string;
  readonly url?: string;
  readonly name?: string;
  readonly trust?: string;
  /** `true` without an address. */
  readonly http?: string | true;
  readonly logLevel?: string;
  readonly verbose?: boolean;
  readonly pretty?: boolean;
}

/** Guards an MCP server until the client disconnects or a signal arrives. */
export async function guard(
  command: readonly string[],
  flags: GuardFlags,
  runtime: RuntimeContext,
  stopped: Promise<void>,
): Promise<void> {
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
  const { name, config } = chooseUpstream(command, flags, loaded);
  const { write, colours } = stderr;
  const guarded = createGuard({
    loaded,
    name,
    config,
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
  const { url, close } = await guarded.listen();
  stdout.write(`MCP at ${url}/mcp\n`);
  try {
    await Promise.race([stopped, guarded.failed]);
  } finally {
    await close();
  }
}

/** The server that the command line names, else the configured one. */
function chooseUpstream(
  [program, ...args]: readonly string[],
  { upstream, url, name, trust }: GuardFlags,
  { config }: LoadedConfig,
): { readonly name: string; readonly config: UpstreamConfig } {
  const given = [program, url, upstream].filter((one) => one !== undefined);
  if (given.length > 1) throw new UsageError('Use only one of a command, --url and --upstream.');
  const configured = (config.upstreams ?? {}) as Readonly<Record<string, UpstreamConfig>>;
  if (program === undefined && url === undefined) {
    const names = Object.keys(configured);
    const chosen = upstream ?? (names.length === 1 ? names[0] : undefined);
    const found = chosen === undefined ? undefined : configured[chosen];
    if (chosen !== undefined && found) return { name: chosen, config: found };
    const known = names.length === 0 ? 'none is configured' : `configured: ${names.join(', ')}`;
    throw new UsageError(
      `No server to guard (${known}). Use: toolkeel guard -- COMMAND, --url URL or --upstream NAME.`,
    );
  }
  const settings = program === undefined ? { url } : { command: program, args };
  const parsed = upstreamSchema.safeParse({ ...settings, ...(trust !== undefined && { trust }) });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`--${issue?.path.join('.') ?? 'url'}: ${issue?.message ?? 'is invalid'}`);
  }
  const derived = program === undefined ? hostOf(url) : defaultName(program, args);
  return { name: name ?? derived, config: parsed.data };
}

function hostOf(url = ''): string {
  return new URL(url).hostname;
}

/** Names that say nothing about a server: programs that run others, and folders of its files. */
const COMMON =
  /^(npx|npm|exec|node|uvx|uv|run|python3?|bunx?|deno|dist|build|src|lib|bin|index|main|server)$/;

/** `npx -y @scope/server-x` is called server-x: the name identifies the server in the journal. */
function defaultName(command: string, args: readonly string[]): string {
  const words = [command, ...args].filter((word) => !word.startsWith('-'));
  const parts = words.map((word) => word.split(/[/\\]/).map(bareName));
  const named = parts.flatMap((path) => path.toReversed().find((part) => !COMMON.test(part)) ?? []);
  return named[0] ?? 'upstream';
}

/** Without a version and a file extension. */
function bareName(part: string): string {
  return part.replace(/(?<=.)@[^@]*$/, '').replace(/\.[cm]?[jt]s$|\.py$/, '');
}
