import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { launch, type Launch } from './launch.js';
import type { ServerSettings } from './server/faults.js';

type Reply =
  | { readonly kind: 'answer'; readonly envelope: ReplyEnvelope }
  /** The server exited before it answered. */
  | { readonly kind: 'lost' }
  /** The call timed out. */
  | { readonly kind: 'late' };

interface ReplyEnvelope {
  readonly success: boolean;
  readonly data: unknown;
  readonly error?: {
    readonly code: string;
    readonly outcome?: string;
    readonly operation_id?: string;
    readonly retry_after_ms?: number;
    readonly details?: unknown;
  };
  readonly meta: { readonly idempotency?: { readonly replayed: boolean } };
}

/** A server process with an MCP connection over stdio. */
interface RpcServer {
  readonly pid: number;
  readonly call: (tool: string, args: object, timeoutMs: number) => Promise<Reply>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when the process has exited. */
  readonly exited: Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly result?: { readonly structuredContent?: ReplyEnvelope };
}

const KEPT_STDERR = 4_000;

/**
 * A minimal MCP client, because a kill test has many of them. Every call has a new request id; a
 * repeated call is just another call.
 */
async function startRpcServer(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<RpcServer> {
  const child = spawn(process.execPath, command, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const pending = new Map<number, (reply: Message | undefined) => void>();
  let lastId = 0;
  let hasExited = false;
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-KEPT_STDERR);
  });
  // Writing to a killed process fails; its exit event settles the pending calls.
  child.stdin.on('error', () => undefined);
  createInterface(child.stdout).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) return;
    pending.get(message.id)?.(message);
    pending.delete(message.id);
  });
  const exited = exitOf(child).then(() => {
    hasExited = true;
    for (const settle of pending.values()) settle(undefined);
    pending.clear();
  });
  const request = (method: string, params: object, timeoutMs: number) =>
    new Promise<Message | 'late' | undefined>((resolve) => {
      if (hasExited) return resolve(undefined);
      lastId += 1;
      const id = lastId;
      const timer = setTimeout(() => {
        pending.delete(id);
        resolve('late');
      }, timeoutMs);
      pending.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  const hello = await request('initialize', handshake, 30_000);
  if (hello === undefined || hello === 'late') {
    child.kill('SIGKILL');
    throw new Error(`the server did not start:\n${stderr}`);
  }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    pid: child.pid ?? 0,
    call: async (tool, args, timeoutMs) => {
      const message = await request('tools/call', { name: tool, arguments: args }, timeoutMs);
      if (message === 'late') return { kind: 'late' };
      const envelope = message?.result?.structuredContent;
      if (message !== undefined && envelope === undefined) {
        throw new Error(`the server answered without an envelope: ${JSON.stringify(message)}`);
      }
      return envelope === undefined ? { kind: 'lost' } : { kind: 'answer', envelope };
    },
    kill: (signal) => void child.kill(signal),
    exited,
  };
}

const handshake = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'drill', version: '0' },
};

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
}

/** Starts a server of the drill. */
export function startServer(
  settings: ServerSettings,
  { script, env }: Launch = launch,
): Promise<RpcServer> {
  return startRpcServer([script, JSON.stringify(settings)], env);
}

/** A server that restarts whenever it is killed. */
export class RestartingServer {
  readonly #settings: ServerSettings;
  readonly #launch: Launch;
  #server: Promise<RpcServer>;
  #closed = false;
  #isRunning = false;
  kills = 0;

  constructor(settings: ServerSettings, how: Launch = launch) {
    this.#settings = settings;
    this.#launch = how;
    this.#server = this.#start();
  }

  current(): Promise<RpcServer> {
    return this.#server;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Kills the process without warning and starts a new one. */
  async kill(): Promise<void> {
    if (this.#closed || !this.#isRunning) return;
    this.#isRunning = false;
    this.kills += 1;
    const server = await this.#server;
    server.kill('SIGKILL');
    this.#server = server.exited.then(() => this.#start());
    await this.#server;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const server = await this.#server;
    server.kill('SIGTERM');
    await server.exited;
  }

  /** A start may time out on a busy machine, so it is retried. */
  async #start(triesLeft = 3): Promise<RpcServer> {
    try {
      const server = await startServer(this.#settings, this.#launch);
      this.#isRunning = true;
      return server;
    } catch (cause) {
      if (triesLeft === 0) throw cause;
      return this.#start(triesLeft - 1);
    }
  }
}

/** How an operation ended for its caller. */
export type CallEnd =
  | { readonly kind: 'done'; readonly id: string; readonly replayed: boolean }
  /** `unanswered`: the caller gave up. It must never happen. */
  | { readonly kind: 'unknown' | 'refused' | 'unanswered'; readonly why: string };

export interface CallStats {
  calls: number;
  /** Calls that timed out while their server was running. */
  late: number;
  /** Calls whose server was killed. */
  lost: number;
}

/** Codes after which an agent would repeat the same call. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'idempotency_in_flight',
  'upstream_unavailable',
  'rate_limited',
  'timeout',
  'db_error',
  'cancelled',
  'overloaded',
  'circuit_open',
]);

const MAX_CALLS = 60;

/** Repeats a call, each time with a new request id, until its outcome is known. */
export async function callUntilSettled(
  server: RestartingServer,
  tool: string,
  args: { readonly key: string },
  timeoutMs: number,
  stats: CallStats,
): Promise<CallEnd> {
  let last = 'no call';
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    const current = await server.current();
    stats.calls += 1;
    const reply = await current.call(tool, args, timeoutMs);
    if (reply.kind !== 'answer') {
      last = reply.kind;
      stats[reply.kind] += 1;
      continue;
    }
    const { success, data, error, meta } = reply.envelope;
    if (success) {
      return { kind: 'done', id: idOf(data), replayed: meta.idempotency?.replayed ?? false };
    }
    last = error?.code ?? 'no error';
    if (last === 'outcome_unknown') {
      return { kind: 'unknown', why: JSON.stringify(error?.details ?? {}) };
    }
    if (!REPEATABLE.has(last)) return { kind: 'refused', why: last };
    await new Promise((resolve) => setTimeout(resolve, Math.min(error?.retry_after_ms ?? 20, 200)));
  }
  return { kind: 'unanswered', why: last };
}

/** The id of the effect, or the ids of all parts. */
function idOf(data: unknown): string {
  const { id, ids } = data as { readonly id?: string; readonly ids?: readonly string[] };
  return id ?? ids?.join(',') ?? '';
}
