import type { Tool, ToolSpec } from '@toolkeel/contract';
import { loadConfig, type LoadedConfig, type LoadOptions } from '../config/load.js';
import type { ConsoleExtras, ConsoleOptions } from '../console/console.js';
import { defaultName } from '../console/operator-name.js';
import { openGovernance, type Governance } from '../governance/governance.js';
import { hasRules } from '../governance/policy.js';
import { createHost, type Host, type HostOptions } from '../host.js';
import { createLog, type HostLog } from '../log/log.js';
import {
  consoleTokenFile,
  ephemeralConsoleToken,
  persistentConsoleToken,
  persistentPageTokens,
} from '../secret/key-files.js';

export interface OpenOptions
  extends LoadOptions, Pick<HostOptions, 'name' | 'version' | 'instructions' | 'model'> {
  /** Tools without a pack. */
  readonly tools?: readonly Tool[];
  /** Tools that this server does not have, but rules may name. Called if there are rules. */
  readonly otherTools?: () => Promise<readonly ToolSpec[]>;
  /** Called when the server has closed, before the log ends. */
  readonly onClose?: () => Promise<void>;
  /** Receives the log. Default: stderr. */
  readonly writeLog?: (lines: string) => void;
}

/** A server with its configuration, journal, policy and log. */
export interface OpenedServer {
  readonly host: Host;
  readonly loaded: LoadedConfig;
  readonly governance: Governance;
  readonly log: HostLog;
  /** Serves MCP on stdin and stdout until the client disconnects or `stopped` resolves, then closes. */
  readonly stdio: (stopped: Promise<void>) => Promise<void>;
  /** Listens, and closes everything if that fails. With `console`, also serves the console and its API. */
  readonly listen: (options?: { readonly console?: ConsoleExtras }) => Promise<Listening>;
  /** Waits for running calls, then closes everything. */
  readonly close: () => Promise<void>;
}

interface Listening {
  readonly url: string;
  /** Creates a link to the console that signs in once. Undefined if the page is not served. */
  readonly consoleLink: (() => string) | undefined;
  /** The operator's token: the file with it or, in a sandbox, the token. Undefined without the console. */
  readonly consoleToken: { readonly file: string } | { readonly value: string } | undefined;
  /** Completes running calls, then closes everything. */
  readonly close: () => Promise<void>;
}

const JOURNAL_DELAY_MS = 200;

/**
 * Creates a host with everything around it, from the configuration. It serves no client yet. In a sandbox
 * (`packSettings`) nothing is stored.
 */
export async function openServer(options: OpenOptions): Promise<OpenedServer> {
  const { packs = [], tools = [], name, version, instructions, model } = options;
  const { otherTools = () => Promise.resolve([]), writeLog } = options;
  const isSandbox = options.packSettings !== undefined;
  const loaded = loadConfig(options);
  const { config, secrets, dataDir, httpOptions, approvalOverride } = loaded;
  // Before anything is opened: a missing section stops the start.
  const entries = packs.map(({ pack }) => loaded.packEntry(pack.name));
  const { log, flush } = createLog({
    level: config.log.level,
    scrub: secrets.scrub,
    ...(writeLog && { write: writeLog }),
  });
  const governance = await openGovernance({
    loaded,
    log,
    tools: [...tools, ...packs.flatMap(({ pack }) => pack.describe())],
    ...(hasRules(loaded) && { others: await otherTools() }),
  });
  const host = createHost({
    tools,
    packs: entries,
    log,
    ...(name !== undefined && { name }),
    ...(version !== undefined && { version }),
    ...(instructions !== undefined && { instructions }),
    ...(model && { model }),
    ...loaded.hostOptions,
    ...governance.hostOptions,
    ...(!isSandbox && { tokens: persistentPageTokens(dataDir, log) }),
  });
  if (approvalOverride) log('warn', 'acting_without_approval', { ...approvalOverride });

  const close = async (): Promise<void> => {
    await host.close(httpOptions.graceMs);
    await governance.close();
    await options.onClose?.();
    await flush();
  };
  const openConsole = async (extras: ConsoleExtras) => {
    const open = (token: ConsoleOptions['token']) =>
      governance.console(token, host.forConsole, extras);
    if (isSandbox) {
      const token = ephemeralConsoleToken();
      return { console: await open(token), consoleToken: { value: token.reveal() } };
    }
    try {
      const console = await open(persistentConsoleToken(dataDir, secrets));
      return { console, consoleToken: { file: consoleTokenFile(dataDir) } };
    } catch (cause) {
      log('warn', 'no_api_for_people', { dir: dataDir, cause });
      return undefined;
    }
  };
  return {
    host,
    loaded,
    governance,
    log,
    close,
    stdio: async (stopped) => {
      const stdio = host.serveStdio();
      // The first responses do not wait for the journal. If it cannot be opened, the server stops.
      const journalFailure = new Promise<never>((_resolve, reject) => {
        setTimeout(() => {
          governance.ready().catch(reject);
        }, JOURNAL_DELAY_MS).unref();
      });
      try {
        await Promise.race([stdio.closed, stopped, journalFailure]);
      } finally {
        // Responses of running calls are sent before stdout closes.
        await close();
        await stdio.close();
      }
    },
    listen: async ({ console: extras } = {}) => {
      try {
        await governance.ready();
        const operator = extras ? await openConsole(extras) : undefined;
        const console = operator?.console;
        const http = await host.listen({ ...httpOptions, ...(console && { console }) });
        return {
          url: http.url,
          consoleLink: console?.hasPages
            ? () => console.createLink(http.url, defaultName())
            : undefined,
          consoleToken: operator?.consoleToken,
          close: async () => {
            await http.close();
            await close();
          },
        };
      } catch (cause) {
        await close();
        throw cause;
      }
    },
  };
}
