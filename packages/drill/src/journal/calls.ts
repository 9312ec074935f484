import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { launch, type Launch } from './server/joined.js';
import type { ServerSettings } from './server/faults.js';

/** What a call of a tool came to. */
type Reply =
  | { readonly kind: 'answer'; readonly envelope: ReplyEnvelope }
  /** The server was gone before it answered: the client knows nothing. */
  | { readonly kind: 'lost' }
  /** No answer in the client's own time. */
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

/** A server process, spoken to in MCP over stdio. */
interface RpcServer {
  readonly pid: number;
  readonly call: (tool: string, args: object, timeoutMs: number) => Promise<Reply>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  readonly isGone: () => boolean;
  readonly stderr: () => string;
}

interface Message {
  readonly id?: number;
  readonly result?: { readonly structuredContent?: ReplyEnvelope };
}

const KEPT_STDERR = 4_000;

/**
 * As small as a client can be, because a storm has a hundred of them: every call has a new request id,
 * and a re-issue is nothing but another call.
 */
async function startRpcServer(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<RpcServer> {
  const child = spawn(process.execPath, command, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const waiting = new Map<number, (reply: Message | undefined) => void>();
  let lastId = 0;
  let over = false;
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-KEPT_STDERR);
  });
  // A write into a process that was killed fails; that it is gone is told by its end.
  child.stdin.on('error', () => undefined);
  createInterface(child.stdout).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) return;
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const gone = ended(child).then(() => {
    over = true;
    for (const tell of waiting.values()) tell(undefined);
    waiting.clear();
  });
  const request = (method: string, params: object, timeoutMs: number) =>
    new Promise<Message | 'late' | undefined>((resolve) => {
      if (over) return resolve(undefined);
      lastId += 1;
      const id = lastId;
      const timer = setTimeout(() => {
        waiting.delete(id);
        resolve('late');
      }, timeoutMs);
      waiting.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  const hello = await request('initialize', handshake, 30_000);
  if (hello === undefined || hello === 'late') {
    child.kill('SIGKILL');
    throw new Error(`a server did not start:\n${stderr}`);
  }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    pid: child.pid ?? 0,
    call: async (tool, args, timeoutMs) => {
      const message = await request('tools/call', { name: tool, arguments: args }, timeoutMs);
      if (message === 'late') return { kind: 'late' };
      const envelope = message?.result?.structuredContent;
      if (message !== undefined && envelope === undefined) {
        throw new Error(`not an envelope: ${JSON.stringify(message)}`);
      }
      return envelope === undefined ? { kind: 'lost' } : { kind: 'answer', envelope };
    },
    kill: (signal) => void child.kill(signal),
    gone,
    isGone: () => over,
    stderr: () => stderr,
  };
}

const handshake = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'drill', version: '0' },
};

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
}

/** Starts a server of the drill as a process. */
export function startServer(
  settings: ServerSettings,
  { script, env }: Launch = launch,
): Promise<RpcServer> {
  return startRpcServer([script, JSON.stringify(settings)], env);
}

/** A server that is killed now and then, and always started again. */
export class Site {
  readonly #settings: ServerSettings;
  readonly #launch: Launch;
  #server: Promise<RpcServer>;
  #closed = false;
  #isUp = false;
  deaths = 0;

  constructor(settings: ServerSettings, how: Launch = launch) {
    this.#settings = settings;
    this.#launch = how;
    this.#server = this.#start();
  }

  server(): Promise<RpcServer> {
    return this.#server;
  }

  /** Whether there is somebody to kill. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Ends it as nobody expects, and starts its successor. */
  async kill(): Promise<void> {
    if (this.#closed || !this.#isUp) return;
    this.#isUp = false;
    this.deaths += 1;
    const server = await this.#server;
    server.kill('SIGKILL');
    this.#server = server.gone.then(() => this.#start());
    await this.#server;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const server = await this.#server;
    server.kill('SIGTERM');
    await server.gone;
  }

  /** On a machine that is busy with other things a start may take too long; one that never works is a mistake. */
  async #start(triesLeft = 3): Promise<RpcServer> {
    try {
      const server = await startServer(this.#settings, this.#launch);
      this.#isUp = true;
      return server;
    } catch (cause) {
      if (triesLeft === 0) throw cause;
      return this.#start(triesLeft - 1);
    }
  }
}

/** How an act ended for the one who asked for it. */
export type CallEnd =
  | { readonly kind: 'done'; readonly id: string; readonly replayed: boolean }
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'refused'; readonly code: string }
  /** Never answered: nobody may be left like that. */
  | { readonly kind: 'limbo'; readonly last: string };

export interface CallStats {
  calls: number;
  /** Calls without an answer in their own time, though their server lived. */
  late: number;
  codes: Record<string, number>;
}

/** Answers after which the same call may succeed: an agent would issue it again, and so do we. */
const AGAIN: ReadonlySet<string> = new Set([
  'idempotency_in_flight',
  'upstream_unavailable',
  'rate_limited',
  'timeout',
  'db_error',
  'cancelled',
  'overloaded',
  'circuit_open',
]);

const MOST_ISSUES = 60;

/** Asks until it knows: whatever is lost or may be retried is issued again, under a new request id. */
export async function pursue(
  site: Site,
  tool: string,
  args: { readonly key: string },
  timeoutMs: number,
  stats: CallStats,
): Promise<CallEnd> {
  let last = 'nothing';
  for (let issue = 0; issue < MOST_ISSUES; issue++) {
    const server = await site.server();
    stats.calls += 1;
    const reply = await server.call(tool, args, timeoutMs);
    if (reply.kind === 'late') stats.late += 1;
    last = nameOf(reply);
    stats.codes[last] = (stats.codes[last] ?? 0) + 1;
    if (reply.kind !== 'answer') continue;
    const { success, data, error, meta } = reply.envelope;
    if (success) {
      return { kind: 'done', id: idOf(data), replayed: meta.idempotency?.replayed ?? false };
    }
    if (error?.code === 'outcome_unknown') {
      return { kind: 'unknown', why: JSON.stringify(error.details ?? {}) };
    }
    if (!AGAIN.has(last)) return { kind: 'refused', code: last };
    await new Promise((resolve) => setTimeout(resolve, Math.min(error?.retry_after_ms ?? 20, 200)));
  }
  return { kind: 'limbo', last };
}

function nameOf(reply: Reply): string {
  if (reply.kind !== 'answer') return reply.kind;
  return reply.envelope.success ? 'ok' : (reply.envelope.error?.code ?? 'no error');
}

/** What identifies the effect, or the effects of all parts. */
function idOf(data: unknown): string {
  const { id, ids } = data as { readonly id?: string; readonly ids?: readonly string[] };
  return id ?? ids?.join(',') ?? '';
}
