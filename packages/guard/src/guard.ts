import {
  createLog,
  guardStdout,
  persistentConsoleToken,
  type HostLog,
  type LoadedConfig,
  type Log,
} from '@toolkeel/host';
import {
  defaultName,
  type Console,
  type ConsoleExtras,
  type Reachability,
} from '@toolkeel/host/parts';
import { endSurvivors } from './children.js';
import type { UpstreamConfig } from './config.js';
import { openGovernance, type GuardGovernance } from './governance.js';
import { serveHttp, type HttpFace } from './http-face.js';
import type { Connect } from './link.js';
import { MultiSession } from './multi-session.js';
import { prefixOf } from './prefix.js';
import type { Route } from './route.js';
import type { Client } from './session-options.js';
import { serveStdio } from './stdio-face.js';
import type { GuardedTool } from './tools.js';
import { openUpstream, type GuardedUpstream } from './upstream.js';

/** A server to guard. */
export interface Upstream {
  /** In logs, metrics and as the account of its mutations. */
  readonly name: string;
  /** Names that it had before, which others may have had too. Their operations still answer its calls. */
  readonly formerNames?: readonly string[];
  readonly config: UpstreamConfig;
  /** Connects to the upstream. Default: as configured. */
  readonly connect?: Connect;
}

export interface GuardSettings {
  readonly loaded: LoadedConfig;
  readonly env?: NodeJS.ProcessEnv;
  /** Receives the lines of the log. Default: stderr. */
  readonly writeLog?: (lines: string) => void;
  /** Receives log events instead. */
  readonly log?: HostLog;
  /** Whether the servers are only looked at: nothing is recorded about them. */
  readonly isInspection?: boolean;
}

/** One upstream, or several. */
export type GuardOptions = GuardSettings & (Upstream | { readonly upstreams: readonly Upstream[] });

export interface Guard {
  readonly log: HostLog;
  readonly tools: readonly GuardedTool[];
  readonly metrics: GuardGovernance['metrics'];
  /** For operators. */
  readonly journal: Pick<GuardGovernance['journal'], 'approvals' | 'operations'>;
  /** Serves one client on stdin and stdout until it disconnects or `stopped` resolves, then closes. */
  readonly stdio: (stopped: Promise<void>, streams?: StdioStreams) => Promise<void>;
  /** Serves clients over HTTP, and the console if given. Closes everything if that fails. */
  readonly listen: (console?: ConsoleExtras) => Promise<
    HttpFace & {
      /** Creates a link to the console that signs in once. Undefined if the page is not served. */
      readonly consoleLink: (() => string) | undefined;
    }
  >;
  /** Rejects if the guard cannot work: the rules do not fit the tools of the server. */
  readonly failed: Promise<never>;
  readonly open: (client: Client) => Route;
  readonly close: () => Promise<void>;
}

interface StdioStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

const MINUTE_MS = 60_000;
/** How long calls in flight may continue after the client has left: its children must end within 5 s. */
const GRACE_MS = 1000;

/** Stands in front of an MCP server, or of several. */
export function createGuard(options: GuardOptions): Guard {
  const { loaded, env = process.env, writeLog } = options;
  const all = 'upstreams' in options ? options.upstreams : [options];
  const given = all.filter(({ config }) => !config.disabled);
  const { log, flush } = options.log
    ? { log: options.log, flush: () => Promise.resolve() }
    : createLog({
        level: loaded.config.log.level,
        scrub: loaded.secrets.scrub,
        ...(writeLog && { write: writeLog }),
      });
  const reachability: Reachability = { transport: 'other' };
  let isGoverned = false;
  let onFatal: (cause: unknown) => void = () => {};
  const fatal = new Promise<never>((_resolve, reject) => {
    onFatal = reject;
  });
  fatal.catch(() => {});

  const toolsChanged = async (upstream: string): Promise<void> => {
    const isComplete = upstreams.every(({ isListed }) => isListed());
    try {
      await governance.toolsChanged(isComplete);
      isGoverned ||= isComplete;
    } catch (cause) {
      // Later the rules of before stay: the server may list a tool again, and the session goes on.
      if (isGoverned) log('error', 'guard_rules_invalid', { upstream, cause });
      else onFatal(cause);
    }
  };
  for (const { name, config } of all) {
    if (config.disabled) log('info', 'guard_upstream_disabled', { upstream: name });
  }
  const loud = loudLog(options, log);
  const upstreams: readonly GuardedUpstream[] = given.map(
    ({ name, formerNames = [], config, connect }) =>
      openUpstream({
        loaded,
        name,
        formerNames,
        config,
        prefix: given.length > 1 ? prefixOf(name, config) : (config.prefix ?? ''),
        env,
        log,
        loudLog: loud.log,
        isInspection: options.isInspection ?? false,
        engine: () => governance.engine,
        admitRead: (tool) => governance.admitRead(tool),
        onTools: () => toolsChanged(name),
        connect,
      }),
  );
  const find = (tool: string): GuardedTool | undefined => {
    for (const { calls } of upstreams) {
      const found = calls.get(tool);
      if (found) return found;
    }
    return undefined;
  };
  const allTools = (): readonly GuardedTool[] => upstreams.flatMap(({ calls }) => calls.tools);
  const governance = openGovernance({
    loaded,
    log,
    tools: {
      specs: () => allTools().map(({ tool }) => tool),
      load: (tool) => find(tool)?.tool,
    },
    undeliveredHoldMs:
      Math.max(...given.map(({ config }) => config.undeliveredHoldMinutes)) * MINUTE_MS,
    callTimeoutMs: Math.max(...upstreams.map(({ policy }) => policy.callTimeoutMs ?? 300_000)),
    name: given.map(({ name }) => name).join(', '),
    formerAccounts: (account) =>
      upstreams.find((one) => one.account === account)?.formerAccounts ?? [],
    upstreams: () => upstreams.map(({ state }) => state()),
    reachability,
  });
  if (given.some(({ connect }) => !connect)) endSurvivors(loaded.dataDir, log);

  const routes = new Set<MultiSession>();
  const open = (client: Client): Route => {
    // An inspection calls nothing, and must not carry out what waits in the journal.
    if (!options.isInspection) governance.journal.start();
    const [only, ...others] = upstreams;
    // A single upstream is passed on as it is; several have to be merged.
    if (only && others.length === 0) return only.open(client);
    const route = new MultiSession({
      upstreams,
      client,
      log,
      onClosed: () => routes.delete(route),
    });
    routes.add(route);
    return route;
  };
  const openConsole = async (extras: ConsoleExtras): Promise<Console | undefined> => {
    try {
      return await governance.console(
        persistentConsoleToken(loaded.dataDir, loaded.secrets),
        extras,
      );
    } catch (cause) {
      log('warn', 'no_api_for_people', { dir: loaded.dataDir, cause });
      return undefined;
    }
  };
  const close = async (): Promise<void> => {
    const opened = [...routes, ...upstreams.flatMap(({ sessions }) => [...sessions])];
    for (const route of opened) route.disconnect();
    await governance.close(GRACE_MS);
    await Promise.all(opened.map((route) => route.close()));
    for (const { end } of upstreams) end();
    await Promise.all([flush(), loud.flush()]);
  };
  return {
    log,
    failed: fatal,
    get tools() {
      return allTools();
    },
    metrics: governance.metrics,
    journal: governance.journal,
    open,
    close,
    listen: async (extras) => {
      reachability.transport = 'http';
      try {
        const console = extras && (await openConsole(extras));
        const face = await serveHttp({
          console,
          http: loaded.httpOptions,
          open,
          tool: find,
          metrics: governance.metrics,
          onError: (cause) => log('error', 'unexpected', { cause }),
          startWaitMs: startWaitOf(upstreams),
        });
        const closeAll = async (): Promise<void> => {
          // Before the servers and connections of its sessions end.
          await governance.drain(loaded.httpOptions.graceMs ?? GRACE_MS);
          // The answers of the calls that have just ended are written first.
          await new Promise((resolve) => setImmediate(resolve));
          await face.close();
          await close();
        };
        return {
          url: face.url,
          close: closeAll,
          consoleLink: console?.hasPages
            ? () => console.createLink(face.url, defaultName())
            : undefined,
        };
      } catch (cause) {
        await close();
        throw cause;
      }
    },
    stdio: async (stopped, { stdin, stdout } = process) => {
      reachability.transport = 'stdio';
      const output = guardStdout(stdout, (text) => log('warn', 'stray_stdout', { text }));
      const face = serveStdio({ stdin, stdout: output.output, log, open });
      try {
        await Promise.race([face.closed, stopped, fatal]);
      } finally {
        await close();
        face.flush();
        output.release();
      }
    },
  };
}

/** How long the first client waits until it is known which revisions are spoken. */
function startWaitOf(upstreams: readonly GuardedUpstream[]): number {
  // Several are started before the first of them can be asked.
  if (upstreams.length > 1) return Math.max(...upstreams.map((one) => one.startWaitMs));
  // One that is bridged will serve the client, however slowly it starts.
  return Math.max(0, ...upstreams.map((one) => (one.isBridged ? one.startTimeoutMs : 0)));
}

/** A log for what an operator must not miss, whatever the configured level. */
function loudLog({ loaded, writeLog, log: given }: GuardSettings, log: HostLog): Log {
  const { level } = loaded.config.log;
  if (given || (level !== 'error' && level !== 'silent')) {
    return { log, flush: () => Promise.resolve() };
  }
  return createLog({
    level: 'warn',
    scrub: loaded.secrets.scrub,
    ...(writeLog && { write: writeLog }),
  });
}
