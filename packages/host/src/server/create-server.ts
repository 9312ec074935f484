import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Pack, Tool } from '@toolkeel/contract';
import { defaultDataDir } from '../config/file.js';
import type { Environment, JsonObject } from '../config/layers.js';
import type { PackBinding } from '../config/load.js';
import { HostError } from '../errors.js';
import type { HostOptions } from '../host.js';
import { prettyLines } from '../log/pretty.js';
import { openServer, type OpenedServer } from './open.js';
import { stopSignal } from './signals.js';

export interface ServerOptions extends Pick<HostOptions, 'version' | 'instructions' | 'model'> {
  /** The name that clients see, and the folder of the journal: letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  readonly tools?: readonly Tool[];
  readonly packs?: readonly (Pack | PackBinding)[];
  /** Settings in the shape of `toolkeel.config.json`. The file, the environment and flags override them. */
  readonly settings?: JsonObject;
  /** The configuration file. Default: `TOOLKEEL_CONFIG`, else `toolkeel.config.json` if it exists. */
  readonly config?: string;
  /** Default: `process.env`. */
  readonly env?: Environment;
  /** Default: the working directory. */
  readonly cwd?: string;
}

export interface ListenOptions {
  /** Default: `http.host` of the configuration, else 127.0.0.1. */
  readonly host?: string;
  /** Default: `http.port` of the configuration, else 7411. 0 selects a free port. */
  readonly port?: number;
}

export interface ListeningServer {
  /** The base URL: MCP is at `/mcp`, the console at `/`, beside `/healthz`, `/metrics` and `/api`. */
  readonly url: string;
  /** Creates a link to the console that signs in once. Undefined if the page is not served. */
  readonly consoleLink: (() => string) | undefined;
  /** Resolves when the server has stopped: after `close` or a signal, and after its running calls. */
  readonly closed: Promise<void>;
  readonly close: () => Promise<void>;
}

/** A server with its configuration, journal, policy, log, metrics and shutdown. */
export interface Server {
  /** Serves MCP on stdin and stdout until the client disconnects, or SIGINT or SIGTERM arrives. */
  readonly stdio: () => Promise<void>;
  /** Serves MCP over HTTP until `close`, SIGINT or SIGTERM. Resolves when it listens. */
  readonly listen: (options?: ListenOptions) => Promise<ListeningServer>;
  /**
   * Runs the server as a program: on stdio, or over HTTP with `--http`; `--help` lists the flags. Errors
   * are printed and set the exit code. Default arguments: those of the process.
   */
  readonly start: (args?: readonly string[]) => Promise<void>;
}

const NAME = /^[a-z\d][\w.-]{0,63}$/i;
/** Errors with a message for the operator, and their exit codes. By name: each package has its classes. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  UsageError: 2,
  ConfigError: 2,
  HostError: 1,
  JournalError: 1,
};
/** How long a program may take to end by itself after its server has stopped. */
const EXIT_MS = 2000;

/**
 * Creates a server for tools or packs. Its defaults are safe: read tools only (`profile`), loopback, and a
 * journal in a data directory of its own.
 */
export function createServer(options: ServerOptions): Server {
  const { name, tools = [], packs = [] } = options;
  if (!NAME.test(name)) {
    throw new HostError(`name must be at most 64 letters, digits, ".", "_" or "-", not "${name}"`);
  }
  if (tools.length + packs.length === 0) {
    throw new HostError(`${name} has no tools: set tools or packs`);
  }

  const open = (flags: Flags): Promise<OpenedServer> => {
    const { config, settings = {}, env = process.env, ...given } = options;
    const file = flags.config ?? config;
    return openServer({
      ...given,
      env,
      // A configuration that the CLI uses too names the module of each pack.
      packs: packs.map((entry) => ({
        isModule: true,
        ...('pack' in entry ? entry : { pack: entry }),
      })),
      // Not shared with other servers: two of them may have a tool of the same name.
      settings: { dataDir: join(defaultDataDir(env), name), ...settings },
      flags: settingsOf(flags),
      withoutApproval: flags['without-approval'] === true,
      ...(file !== undefined && { file }),
      ...(flags.pretty && { writeLog: (text) => void process.stderr.write(prettyLines(text)) }),
    });
  };
  const stdio = async (flags: Flags = {}): Promise<void> => {
    const { stopped, release } = stopSignal();
    try {
      await (await open(flags)).stdio(stopped);
    } finally {
      release();
    }
  };
  const listen = async (flags: Flags): Promise<ListeningServer> => {
    const { stopped, release } = stopSignal();
    try {
      const opened = await open(flags);
      const { url, consoleLink, close: stop } = await opened.listen({ console: {} });
      let requestClose = (): void => {};
      const requested = new Promise<void>((resolve) => {
        requestClose = resolve;
      });
      const closed = Promise.race([stopped, requested]).then(stop).finally(release);
      const close = (): Promise<void> => {
        requestClose();
        return closed;
      };
      return { url, consoleLink, closed, close };
    } catch (cause) {
      release();
      throw cause;
    }
  };
  const run = async (args: readonly string[]): Promise<void> => {
    const flags = parseFlags(args);
    const { http, host, port } = flags;
    if (flags.help) process.stdout.write(usageOf(name));
    else if (!http && host === undefined && port === undefined) await stdio(flags);
    else {
      const { url, consoleLink, closed } = await listen(flags);
      process.stdout.write(`MCP at ${url}/mcp\n`);
      if (consoleLink) process.stdout.write(`Console at ${consoleLink()} (signs in once)\n`);
      await closed;
    }
  };
  return {
    stdio: () => stdio(),
    listen: ({ host, port } = {}) =>
      listen({
        ...(host !== undefined && { host }),
        ...(port !== undefined && { port: String(port) }),
      }),
    start: async (args = process.argv.slice(2)) => {
      try {
        await run(args);
      } catch (cause) {
        const { name: kind, message } = cause instanceof Error ? cause : new Error(String(cause));
        const code = EXIT_CODES[kind];
        if (code === undefined) throw cause;
        process.stderr.write(`${name}: ${message}\n`);
        process.exitCode = code;
      }
      // Handles that tools leave open, such as a connection pool, must not keep a stopped server alive.
      setTimeout(() => process.kill(process.pid, 'SIGTERM'), EXIT_MS).unref();
    },
  };
}

const FLAGS = {
  http: { type: 'boolean' },
  host: { type: 'string' },
  port: { type: 'string' },
  profile: { type: 'string' },
  config: { type: 'string' },
  'log-level': { type: 'string' },
  pretty: { type: 'boolean' },
  'without-approval': { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

type Flags = ReturnType<typeof parseArgs<{ options: typeof FLAGS }>>['values'];

function usageOf(name: string): string {
  return `${name}: an MCP server on stdin and stdout, or over HTTP.

  --http                Serve over HTTP; --host and --port imply it
  --host <name>         Listen on this host (default: 127.0.0.1)
  --port <number>       Listen on this port (default: 7411; 0 selects a free port)
  --profile <name>      Use this profile: readonly, api or workflow (default: readonly)
  --config <file>       Use this configuration file (default: toolkeel.config.json, if it exists)
  --log-level <level>   Set the log level: debug, info, warn, error or silent (default: info)
  --pretty              Format the log for humans instead of as JSON
  --without-approval    Accept a --profile that requires fewer approvals than the configuration
`;
}

function parseFlags(args: readonly string[]): Flags {
  try {
    return parseArgs({ args: [...args], options: FLAGS }).values;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const hint = args.some((arg) => /^--http(=|$)/.test(arg))
      ? ' --http takes no value here: use --host and --port.'
      : '';
    const text = `${message}${hint} --help lists the flags.`;
    throw Object.assign(new Error(text), { name: 'UsageError' });
  }
}

/** The flags in the shape of the configuration. An invalid port stays a string, which is refused. */
function settingsOf({ profile, host, port, 'log-level': level }: Flags): JsonObject {
  const number = port === undefined || port.trim() === '' ? port : Number(port);
  return {
    ...(profile !== undefined && { profile }),
    ...(level !== undefined && { log: { level } }),
    http: {
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port: Number.isNaN(number) ? port : number }),
    },
  };
}
