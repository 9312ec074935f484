import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { bareEnvironment, bin, type Place } from './process.js';

export interface Connected {
  readonly tools: () => Promise<readonly string[]>;
  /** Returns the envelope. */
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<Envelope>;
  readonly stderr: () => string;
  readonly pid: number | null;
  readonly close: () => Promise<void>;
}

export interface Envelope {
  readonly success: boolean;
  readonly data: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly operation_id?: string };
  readonly meta: {
    readonly correlation_id: string;
    readonly pagination?: { readonly next_token?: string };
    readonly idempotency?: { readonly replayed: boolean };
  };
}

/** Starts `toolkeel serve …` like a client. */
export async function overStdio(
  args: readonly string[],
  place: Place,
  command: readonly [string, ...string[]] = [process.execPath, bin],
): Promise<Connected> {
  const [file, ...first] = command;
  const transport = new StdioClientTransport({
    command: file,
    args: [...first, 'serve', ...args],
    cwd: place.cwd,
    env: bareEnvironment(place),
    stderr: 'pipe',
  });
  let text = '';
  transport.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return connected(client, () => text, transport.pid);
}

export async function overHttp(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Connected> {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return connected(client, () => '', null);
}

function connected(client: Client, stderr: () => string, pid: number | null): Connected {
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => {
      const { structuredContent } = await client.callTool({ name, arguments: args });
      return structuredContent as Envelope;
    },
    stderr,
    pid,
    close: () => client.close(),
  };
}
