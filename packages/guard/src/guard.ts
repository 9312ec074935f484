import { hash } from 'node:crypto';
import {
  createLog,
  environmentSecrets,
  guardStdout,
  type HostLog,
  type LoadedConfig,
} from '@toolkeel/host';
import { definePolicy, presets } from '@toolkeel/kernel/policy';
import { readSecret } from '@toolkeel/pack-kit/base';
import { GuardedCalls } from './calls.js';
import { childLink, type ChildOptions } from './child-link.js';
import { childRegistry, endSurvivors } from './children.js';
import type { UpstreamConfig } from './config.js';
import { openGovernance, type GuardGovernance } from './governance.js';
import { serveHttp, type HttpFace } from './http-face.js';
import { httpLink, type HttpLinkOptions } from './http-link.js';
import type { Connect } from './link.js';
import { Session, type Client } from './session.js';
import { serveStdio } from './stdio-face.js';
import type { GuardedTool } from './tools.js';

export interface GuardOptions {
  readonly loaded: LoadedConfig;
  /** The name of the upstream: in logs, metrics and as the account of its mutations. */
  readonly name: string;
  readonly config: UpstreamConfig;
  readonly env?: NodeJS.ProcessEnv;
  /** Receives the lines of the log. Default: stderr. */
  readonly writeLog?: (lines: string) => void;
  /** Receives log events instead. */
  readonly log?: HostLog;
  /** Connects to the upstream. Default: as configured. */
  readonly connect?: Connect;
}

export interface Guard {
  readonly log: HostLog;
  readonly tools: readonly GuardedTool[];
  readonly metrics: GuardGovernance['metrics'];
  /** For operators. */
  readonly journal: Pick<GuardGovernance['journal'], 'approvals' | 'operations'>;
  /** Serves one client on stdin and stdout until it disconnects or `stopped` resolves, then closes. */
  readonly stdio: (stopped: Promise<void>, streams?: StdioStreams) => Promise<void>;
  /** Serves clients over HTTP. Closes everything if that fails. */
  readonly listen: () => Promise<HttpFace>;
  /** Rejects if the guard cannot work: the rules do not fit the tools of the server. */
  readonly failed: Promise<never>;
  readonly open: (client: Client) => Session;
  readonly close: () => Promise<void>;
}

interface StdioStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

const MINUTE_MS = 60_000;
/** How long calls in flight may continue after the client has left: its children must end within 5 s. */
const GRACE_MS = 1000;

/** Stands in front of an MCP server. */
export function createGuard(options: GuardOptions): Guard {
  const { loaded, name, config, env = process.env, writeLog } = options;
  const { secrets } = loaded;
  const childEnv = childEnvironment(config, env);
  environmentSecrets(childEnv, secrets);
  const { log, flush } = options.log
    ? { log: options.log, flush: () => Promise.resolve() }
    : createLog({
        level: loaded.config.log.level,
        scrub: secrets.scrub,
        ...(writeLog && { write: writeLog }),
      });
  const policy = definePolicy({
    ...presets.guard,
    ...loaded.config.policies.guard,
    ...config.policy,
  });
  const sessions = new Set<Session>();
  let isGoverned = false;
  let onFatal: (cause: unknown) => void = () => {};
  const fatal = new Promise<never>((_resolve, reject) => {
    onFatal = reject;
  });
  fatal.catch(() => {});

  const calls: GuardedCalls = new GuardedCalls({
    name,
    account: accountOf(name, config, childEnv),
    config,
    policy,
    log,
    scrub: secrets.scrub,
    engine: () => governance.engine,
    onTools: async (tools) => {
      logEffects(log, name, tools);
      try {
        await governance.toolsChanged();
        isGoverned = true;
      } catch (cause) {
        // Later the rules of before stay: the server may list a tool again, and the session goes on.
        if (isGoverned) log('error', 'guard_rules_invalid', { upstream: name, cause });
        else onFatal(cause);
      }
    },
    anyExchange: () => [...sessions][0]?.ownExchange(),
  });
  const governance = openGovernance({
    loaded,
    log,
    tools: {
      specs: () => calls.tools.map(({ tool }) => tool),
      load: (tool) => calls.get(tool)?.tool,
    },
    undeliveredHoldMs: config.undeliveredHoldMinutes * MINUTE_MS,
    callTimeoutMs: policy.callTimeoutMs ?? 300_000,
    upstreams: () => {
      const { circuit, retryTokens } = calls.upstream;
      return Promise.resolve([{ name, circuit, retryTokens }]);
    },
  });
  const connect =
    options.connect ??
    connectTo(config, {
      name,
      env: childEnv,
      log,
      register: childRegistry(loaded.dataDir, log),
      schemaOf: (tool) => calls.get(tool)?.listed.inputSchema,
    });
  if (!options.connect) endSurvivors(loaded.dataDir, log);

  const open = (client: Client): Session => {
    governance.journal.start();
    const session = new Session({
      name,
      connect,
      client,
      calls,
      log,
      startTimeoutMs: config.startTimeoutSecs * 1000,
    });
    sessions.add(session);
    void session.closed.then(() => sessions.delete(session));
    return session;
  };
  const close = async (): Promise<void> => {
    for (const session of sessions) session.disconnect();
    await governance.close(GRACE_MS);
    await Promise.all([...sessions].map((session) => session.close()));
    await flush();
  };
  return {
    log,
    failed: fatal,
    get tools() {
      return calls.tools;
    },
    metrics: governance.metrics,
    journal: governance.journal,
    open,
    close,
    listen: async () => {
      try {
        const face = await serveHttp({
          http: loaded.httpOptions,
          open,
          tool: (tool) => calls.get(tool),
          metrics: governance.metrics,
          onError: (cause) => log('error', 'unexpected', { cause }),
        });
        const closeAll = async (): Promise<void> => {
          await face.close();
          await close();
        };
        return { url: face.url, close: closeAll };
      } catch (cause) {
        await close();
        throw cause;
      }
    },
    stdio: async (stopped, { stdin, stdout } = process) => {
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

interface ConnectOptions extends Pick<ChildOptions, 'name' | 'env' | 'log' | 'register'> {
  readonly schemaOf: HttpLinkOptions['schemaOf'];
}

function connectTo(
  { command = '', args, cwd, url, headers }: UpstreamConfig,
  { schemaOf, ...child }: ConnectOptions,
): Connect {
  if (url === undefined) return childLink({ ...child, command, args, cwd });
  const { name, log, env } = child;
  const read = Object.entries(headers).map(
    ([header, value]) => [header, readSecret(value, `headers.${header}`, env)] as const,
  );
  return httpLink({ name, url, log, schemaOf, headers: Object.fromEntries(read) });
}

/** Two credentials are two accounts: what one has done, the other has not. */
function accountOf(
  name: string,
  { account = name, accountFrom }: UpstreamConfig,
  env: NodeJS.ProcessEnv,
): string {
  const credential = accountFrom === undefined ? undefined : env[accountFrom];
  if (credential === undefined) return account;
  return `${account}:${hash('sha256', credential).slice(0, 12)}`;
}

const OWN_SECRETS: ReadonlySet<string> = new Set([
  'TOOLKEEL_HTTP_TOKEN',
  'TOOLKEEL_HTTP_METRICS_TOKEN',
  'TOOLKEEL_JOURNAL_URL',
]);

/** The environment of a child: that of the guard, and the configured variables. */
function childEnvironment(
  { env: given }: UpstreamConfig,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const own = Object.entries(given).map(
    ([name, value]) => [name, readSecret(value, `env.${name}`, env)] as const,
  );
  // Credentials of the guard itself are not for a foreign server.
  const inherited = Object.entries(env).filter(([variable]) => !OWN_SECRETS.has(variable));
  return Object.fromEntries([...inherited, ...own]);
}

/** Lists what was decided and why: annotations are often wrong, and the operator can correct them. */
function logEffects(log: HostLog, upstream: string, tools: readonly GuardedTool[]): void {
  log('info', 'guard_effects', {
    upstream,
    tools: tools.map(
      ({ listed, decision }) => `${listed.name}: ${decision.effect} (${decision.why})`,
    ),
  });
  const keyless = tools.filter(({ tool }) => tool.effect === 'once' && tool.key === undefined);
  if (keyless.length > 0) {
    log('info', 'once_tools_without_key', { tools: keyless.map(({ listed }) => listed.name) });
  }
}
