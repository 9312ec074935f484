import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Arguments } from '../calls/arguments.js';
import { DrillError } from '../drill-error.js';

/** What a tool call came back with; `thrown` where there was no result at all. */
export type Answer =
  | {
      readonly structuredContent?: unknown;
      readonly content?: unknown;
      readonly isError?: boolean | undefined;
    }
  | { readonly thrown: string };

export interface Timed {
  readonly answer: Answer;
  readonly wallMs: number;
}

export interface Server {
  readonly outputSchemas: ReadonlyMap<string, object>;
  readonly call: (tool: string, args: Arguments) => Promise<Timed>;
  readonly close: () => Promise<void>;
}

export interface ServerOptions {
  readonly command: readonly [file: string, ...args: string[]];
  readonly env: Record<string, string>;
}

/** The last words of a server that does not start. */
const KEPT_STDERR = 4000;

/** Starts a server as a process of its own and talks to it as any MCP client does. */
export async function startServer({ command, env }: ServerOptions): Promise<Server> {
  const [file, ...args] = command;
  const transport = new StdioClientTransport({ command: file, args, env, stderr: 'pipe' });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-KEPT_STDERR);
  });
  const client = new Client({ name: 'toolkeel-drill', version: '0.1.0' });
  try {
    await client.connect(transport);
    const { tools } = await client.listTools();
    return {
      outputSchemas: new Map(
        tools.flatMap(({ name, outputSchema }) => (outputSchema ? [[name, outputSchema]] : [])),
      ),
      call: (tool, given) => timed(() => client.callTool({ name: tool, arguments: { ...given } })),
      close: () => client.close(),
    };
  } catch (cause) {
    await client.close().catch(() => {});
    throw new DrillError(`the server did not start: ${command.join(' ')}\n${said}`, { cause });
  }
}

async function timed(call: () => Promise<Answer>): Promise<Timed> {
  const begun = performance.now();
  try {
    const answer = await call();
    return { answer, wallMs: performance.now() - begun };
  } catch (cause) {
    const thrown = cause instanceof Error ? cause.message : String(cause);
    return { answer: { thrown }, wallMs: performance.now() - begun };
  }
}
