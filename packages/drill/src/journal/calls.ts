import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { connectServer } from '../mcp-server.js';
import type { Launch } from './launch.js';
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

interface DrillServer {
  readonly call: (tool: string, args: object, timeoutMs: number) => Promise<Reply>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when the process has exited. */
  readonly exited: Promise<void>;
}

/** Starts a server of the drill. Every call has a new request id; a repeated call is just another call. */
export async function startServer(
  settings: ServerSettings,
  { script, env }: Launch,
): Promise<DrillServer> {
  const { client, pid, exited } = await connectServer({
    command: [process.execPath, script, JSON.stringify(settings)],
    env: { ...(process.env as Record<string, string>), ...env },
  });
  return {
    call: async (tool, args, timeout) => {
      try {
        const result = await client.callTool({ name: tool, arguments: { ...args } }, { timeout });
        return { kind: 'answer', envelope: result.structuredContent as ReplyEnvelope };
      } catch (cause) {
        if (cause instanceof ProtocolError) throw cause;
        const isLate = cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout;
        if (isLate) return { kind: 'late' };
        await exited;
        return { kind: 'lost' };
      }
    },
    kill: (signal) => void process.kill(pid, signal),
    exited,
  };
}

/** A server that restarts whenever it is killed. */
export class RestartingServer {
  readonly #settings: ServerSettings;
  readonly #launch: Launch;
  #server: Promise<DrillServer>;
  #closed = false;
  #isRunning = false;
  kills = 0;

  constructor(settings: ServerSettings, how: Launch) {
    this.#settings = settings;
    this.#launch = how;
    this.#server = this.#start();
  }

  current(): Promise<DrillServer> {
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
  async #start(triesLeft = 3): Promise<DrillServer> {
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
