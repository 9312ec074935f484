import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { fileURLToPath } from 'node:url';

/** The common interface of clients of all SDK generations. */
export interface AnyClient {
  readonly listTools: () => Promise<{ tools: { name: string }[] }>;
  readonly callTool: (
    params: { name: string; arguments?: Record<string, unknown> },
    options?: CallOptions,
  ) => Promise<Record<string, unknown>>;
  readonly client: Pick<
    ClientV2,
    'listResources' | 'listResourceTemplates' | 'readResource' | 'listPrompts' | 'getPrompt'
  >;
  readonly stderr: () => string;
  readonly pid: number | undefined;
  readonly close: () => Promise<void>;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number; message?: string }) => void;
}

export type Generation = '1.x' | '2.x legacy' | '2.x modern';
export const generations: readonly Generation[] = ['1.x', '2.x legacy', '2.x modern'];

/** The generations have the same shape at run time, but incompatible types. */
const cast = (value: unknown) => value as never;

const info = { name: 'test', version: '1' };

const v1Of = (client: ClientV2): ClientV1 => cast(client);

const newClient = (generation: Generation): ClientV2 => {
  if (generation === '1.x') return cast(new ClientV1(info));
  const mode = generation === '2.x modern' ? { pin: '2026-07-28' } : 'legacy';
  return new ClientV2(info, cast({ versionNegotiation: { mode } }));
};

const wrap = (
  client: ClientV2,
  generation: Generation,
  stderr: () => string,
  pid?: number,
): AnyClient => ({
  listTools: () => cast(client.listTools()),
  callTool: (params, options) =>
    generation === '1.x'
      ? cast(v1Of(client).callTool(params, undefined, cast(options)))
      : cast(client.callTool(params, cast(options))),
  client,
  stderr,
  pid,
  close: () => client.close(),
});

/** Starts a fixture server as a process and connects to it. */
export const overStdio = async (
  generation: Generation,
  env: Record<string, string> = {},
  fixture = 'stdio-server',
): Promise<AnyClient> => {
  const file = fileURLToPath(new URL(`../dist/fixtures/${fixture}.fixture.js`, import.meta.url));
  const options = {
    command: process.execPath,
    args: [file],
    env: { ...(process.env as Record<string, string>), ...env },
    stderr: 'pipe' as const,
  };
  const transport = generation === '1.x' ? new StdioV1(options) : new StdioV2(options);
  let text = '';
  transport.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const client = newClient(generation);
  await client.connect(cast(transport));
  return wrap(client, generation, () => text, transport.pid ?? undefined);
};

export const overHttp = async (
  generation: Generation,
  url: string,
  headers: Record<string, string> = {},
): Promise<AnyClient> => {
  const at = new URL('/mcp', url);
  const options = { requestInit: { headers } };
  const transport = generation === '1.x' ? new HttpV1(at, options) : new HttpV2(at, options);
  const client = newClient(generation);
  await client.connect(cast(transport));
  return wrap(client, generation, () => '');
};
