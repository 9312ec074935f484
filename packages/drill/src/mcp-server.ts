import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { DrillError } from './cli/command-line.js';

export interface ServerOptions {
  readonly command: readonly [file: string, ...args: string[]];
  readonly env: Record<string, string>;
}

const KEPT_STDERR = 4000;

/** Starts a server process and connects to it with the MCP client over stdio. */
export async function connectServer({ command, env }: ServerOptions) {
  const [file, ...args] = command;
  const transport = new StdioClientTransport({ command: file, args, env, stderr: 'pipe' });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-KEPT_STDERR);
  });
  const client = new Client({ name: 'toolkeel-drill', version: '0.1.0' });
  // Resolves when the process has exited. The SDK calls this property; it has no event for it.
  const exited = new Promise<void>((onclose) => Object.assign(client, { onclose }));
  try {
    await client.connect(transport);
    return { client, pid: transport.pid ?? 0, exited };
  } catch (cause) {
    await client.close().catch(() => {});
    throw new DrillError(`the server did not start: ${command.join(' ')}\n${stderr}`, { cause });
  }
}
