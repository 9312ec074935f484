import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type * as library from '@anthropic-ai/claude-agent-sdk';
import type { Options, Query, SDKMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import { llmAdapters, systemClock, type Clock } from '@toolkeel/kernel';
import { createRedactor, type Environment } from '@toolkeel/pack-kit/base';
import type { ModelOptions } from '../core/channel.js';
import type { Timeouts } from '../core/clocks.js';
import { ProviderFault } from '../core/errors.js';
import { createModel, type Model } from '../core/model.js';
import {
  notConfigured,
  unsupported,
  type AttemptIo,
  type ModelRequest,
  type Provider,
  type ProviderResult,
} from '../core/provider.js';
import { callerTools } from './caller-tools.js';
import { Child, Slots } from './children.js';
import { cliEnvironment, findCli, withoutKeys } from './environment.js';
import {
  badMessage,
  busy,
  cannotStart,
  CLAUDE,
  incomplete,
  notPassable,
  processExited,
  sdkMissing,
} from './faults.js';
import { checkLogin } from './health.js';
import { toPrompt } from './prompt.js';
import { Turn } from './turn.js';
import { guardFolder, releaseFolder } from './watchdog.js';

export interface ClaudeOptions extends ModelOptions {
  /** The Claude CLI. Default: TOOLKEEL_CLAUDE_PATH, then `claude` on the PATH. */
  readonly cliPath?: string;
  /** A model or an alias of the CLI. Default: sonnet. */
  readonly model?: string;
  /** CLI processes at the same time: each takes some 180 MB. Default: 2. */
  readonly maxProcesses?: number;
  /** Requests that may wait for a process. Default: 32. */
  readonly maxQueue?: number;
  /** Address of the API, for the sandbox. */
  readonly baseUrl?: string;
  readonly env?: Environment;
}

const timeouts: Timeouts = {
  connectMs: 30_000,
  totalMs: llmAdapters.claude.attemptTimeoutMs ?? 120_000,
};

const DEFAULT_MODEL = 'sonnet';
const DEFAULT_SYSTEM = 'You are a helpful assistant.';

const thinkingTokens = { low: 1_024, medium: 8_192, high: 24_576 } as const;

/**
 * Claude through the user's own CLI login. There is no API-key mode: keys in the environment are not
 * passed on.
 */
export function claude(options: ClaudeOptions = {}): Model {
  return createModel(claudeProvider(options), options);
}

type Sdk = typeof library;

function claudeProvider(options: ClaudeOptions): Provider {
  const { clock = systemClock, env = process.env, model = DEFAULT_MODEL } = options;
  const slots = new Slots(options.maxProcesses ?? 2, options.maxQueue ?? 32);
  const sessions = new Set<Session>();
  const secrets = createRedactor();
  secrets.add(env['CLAUDE_CODE_OAUTH_TOKEN'] ?? '');
  const envOf = (folder: string, maxOutputTokens?: number) =>
    cliEnvironment({ env, baseUrl: options.baseUrl, folder, maxOutputTokens });
  const open = async (signal: AbortSignal, io?: AttemptIo, request?: ModelRequest) => {
    const cli = findCli(options.cliPath, env);
    const sdk = await loadSdk();
    signal.throwIfAborted();
    const acquired = slots.acquire(signal);
    if (!acquired) throw busy();
    await acquired;
    io?.begin();
    const settings = request ? settingsOf(request) : isolation;
    const envFor = (folder: string) => envOf(folder, request?.maxOutputTokens);
    const session = startSession(sdk, cli, { clock, settings, envFor, io });
    sessions.add(session);
    void session.closed.then(() => {
      sessions.delete(session);
      slots.release();
    });
    signal.addEventListener('abort', () => session.end('now'), { once: true });
    if (signal.aborted) session.end('now');
    return session;
  };

  /** A session that cannot begin holds no slot. */
  const startSession = (...[sdk, cli, sessionOptions]: ConstructorParameters<typeof Session>) => {
    try {
      return new Session(sdk, cli, sessionOptions);
    } catch (cause) {
      slots.release();
      throw cause;
    }
  };

  return {
    name: CLAUDE,
    model,
    serves: (name) => name === model || /^(claude|sonnet|opus|haiku|default)/.test(name),
    timeouts,
    run: async (request, io) => {
      if (request.temperature !== undefined) throw unsupported('Claude', 'a temperature');
      if (request.tools?.length && request.responseSchema) {
        throw unsupported('Claude', 'tools together with a response schema');
      }
      const prompt = toPrompt(request.messages);
      const session = await open(io.signal, io, request);
      return session.ask(prompt, new Turn(io, request, () => clock.wallNow(), secrets));
    },
    health: (signal) => checkLogin(options.cliPath, env, envOf(tmpdir()), signal),
    models: async (signal) => {
      const session = await open(signal);
      try {
        return await session.models();
      } finally {
        session.end('now');
      }
    },
    close: async () => {
      for (const session of sessions) session.end('now');
      await Promise.all([...sessions].map(({ closed }) => closed));
    },
  };
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@anthropic-ai/claude-agent-sdk');
  } catch (cause) {
    throw sdkMissing(cause);
  }
}

/** No tools of its own, no settings, skills or servers of the user, no session file. */
const isolation: Options = {
  tools: [],
  settingSources: [],
  strictMcpConfig: true,
  persistSession: false,
  permissionMode: 'dontAsk',
  includePartialMessages: true,
};

function settingsOf(request: ModelRequest): Options {
  const { model, system = DEFAULT_SYSTEM, responseSchema, thinking, tools = [] } = request;
  return {
    ...isolation,
    model,
    systemPrompt: system,
    // A structured answer is a tool call of the CLI, which takes a turn of its own.
    maxTurns: responseSchema ? 3 : 1,
    ...(tools.length > 0 && { mcpServers: callerTools(tools) }),
    ...(responseSchema && { outputFormat: { type: 'json_schema', schema: responseSchema } }),
    ...(thinking && {
      thinking:
        thinking === 'off'
          ? { type: 'disabled' }
          : { type: 'enabled', budgetTokens: thinkingTokens[thinking] },
    }),
  };
}

interface SessionOptions {
  readonly clock: Clock;
  readonly settings: Options;
  readonly envFor: (folder: string) => Readonly<Record<string, string>>;
  readonly io: AttemptIo | undefined;
}

/** One CLI process, from its start until it has exited. */
class Session {
  readonly #query: Query;
  readonly #abort = new AbortController();
  readonly #folder = temporaryFolder();
  #child: Child | undefined;
  #sendPrompt: (message: SDKUserMessage | undefined) => void = () => undefined;
  #close: () => void = () => undefined;
  #ended = false;
  readonly #cli: string;
  /** The process has exited and its folder is gone. */
  readonly closed: Promise<void>;

  constructor(sdk: Sdk, cli: string, { clock, settings, envFor, io }: SessionOptions) {
    this.#cli = cli;
    this.closed = new Promise((resolve) => {
      this.#close = () => {
        rmSync(this.#folder, { recursive: true, force: true });
        releaseFolder(this.#folder);
        resolve();
      };
    });
    const prompt = new Promise<SDKUserMessage | undefined>((resolve) => {
      this.#sendPrompt = resolve;
    });
    const input = async function* (): AsyncGenerator<SDKUserMessage> {
      const message = await prompt;
      if (message) yield message;
    };
    const start = (): Query =>
      sdk.query({
        prompt: input(),
        options: {
          ...settings,
          env: envFor(this.#folder),
          cwd: this.#folder,
          abortController: this.#abort,
          pathToClaudeCodeExecutable: cli,
          spawnClaudeCodeProcess: ({ command, args, cwd, env }) => {
            const child = new Child({ command, args, cwd, env: withoutKeys(env) }, clock);
            this.#child = child;
            return observed(child, io);
          },
        },
      });
    try {
      this.#query = start();
    } catch (cause) {
      // Arguments that no program can be given: a zero byte, or more than the system allows.
      this.#close();
      throw notPassable(cause);
    }
  }

  async ask(blocks: ReturnType<typeof toPrompt>, turn: Turn): Promise<ProviderResult> {
    this.#sendPrompt({
      type: 'user',
      message: { role: 'user', content: blocks },
      parent_tool_use_id: null,
    });
    let isDone = false;
    try {
      for (;;) {
        const { done, value } = await this.#next();
        if (done) throw incomplete(await this.#exit(), turn.requestId);
        const result = taken(turn, value);
        if (!result) continue;
        isDone = true;
        return result;
      }
    } catch (cause) {
      if (cause instanceof ProviderFault) throw cause;
      const exit = await this.#exit();
      const failure = this.#child?.failure;
      throw failure ? cannotStart(this.#cli, failure) : processExited(exit, cause);
    } finally {
      this.end(isDone ? 'after-input' : 'now');
    }
  }

  #next(): Promise<IteratorResult<SDKMessage, void>> {
    return this.#query.next();
  }

  async models() {
    const models = await this.#query.supportedModels();
    return models.map(({ value, description }) => ({ id: value, description }));
  }

  /** How the process ended, if it has. */
  async #exit(): Promise<string> {
    const child = this.#child;
    if (!child) return 'it did not start';
    // The output ends shortly before the process does.
    const unknown = new Promise<undefined>((resolve) => {
      setTimeout(() => resolve(undefined), 250).unref();
    });
    const exit = await Promise.race([child.exited, unknown]);
    if (!exit) return 'still running';
    return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
  }

  /** Ends the process behind the caller's back. */
  end(how: 'now' | 'after-input'): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#sendPrompt(undefined);
    const child = this.#child;
    const exited = child ? child.end(how) : Promise.resolve();
    void exited.then(() => {
      this.#abort.abort();
      // The SDK's generator may reject now; its caller has gone.
      void Promise.resolve(this.#query.return(undefined)).catch(() => undefined);
      this.#close();
    });
  }
}

function temporaryFolder(): string {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'toolkeel-claude-'));
    guardFolder(folder);
    return folder;
  } catch (cause) {
    throw notConfigured('The Claude CLI needs a temporary directory. Make it writable', cause);
  }
}

/** Messages come from a program of any version: one that cannot be read is its error. */
function taken(turn: Turn, message: SDKMessage): ProviderResult | undefined {
  try {
    return turn.take(message);
  } catch (cause) {
    throw cause instanceof ProviderFault ? cause : badMessage(cause);
  }
}

/** The child as the SDK sees it: reports each byte, and leaves ending it to us. */
function observed(child: Child, io: AttemptIo | undefined) {
  const stdout = new PassThrough();
  child.stdout.on('data', (chunk: Buffer) => {
    io?.connected();
    io?.bytes(chunk.length);
    stdout.write(chunk);
  });
  child.stdout.on('end', () => stdout.end());
  child.stdout.on('error', () => stdout.end());
  const { process } = child;
  return {
    stdin: child.stdin,
    stdout,
    get killed() {
      return process.killed;
    },
    get exitCode() {
      return process.exitCode;
    },
    get signalCode() {
      return process.signalCode;
    },
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    on: process.on.bind(process) as never,
    once: process.once.bind(process) as never,
    off: process.off.bind(process) as never,
  };
}
