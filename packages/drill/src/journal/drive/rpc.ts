import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** What a call of a tool came to. */
export type Reply =
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
export interface RpcServer {
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
export async function startRpcServer(
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
