import { DrillError } from '../cli/command-line.js';
import { type Arguments, coldName, OTHER_NAME, siteName } from './calls.js';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { LogEntry, StacSandboxOptions } from '@toolkeel/sandbox';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

interface SettingsOptions {
  readonly mainUrl: string;
  readonly otherUrl: string;
  readonly hedge: boolean;
  /** How many further names the main catalogue gets, of each kind. */
  readonly sites: number;
}

/** The configuration file of a server. The main catalogue itself comes from its environment. */
export function settings({ mainUrl, otherUrl, hedge, sites }: SettingsOptions) {
  const named = (name: (n: number) => string, parameter: string) =>
    Object.fromEntries(
      Array.from({ length: sites }, (_, n) => [name(n), { url: `${mainUrl}/?${parameter}=${n}` }]),
    );
  return {
    packs: {
      stac: {
        builtinCatalogs: false,
        hedge,
        catalogs: {
          [OTHER_NAME]: { url: otherUrl },
          ...named(siteName, 'site'),
          ...named(coldName, 'cold'),
        },
      },
    },
  };
}

/** What is said to this process is not meant for the servers that it starts. */
export function serverEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(TOOLKEEL|STAC_MCP)_/.test(entry[0]),
  );
  return { ...Object.fromEntries(inherited), ...own };
}

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

/** One upstream, as far as the drill commands it. */
export interface Upstream {
  readonly url: string;
  /** Empties the log and begins the draws of a seed. */
  readonly restart: (seed: number) => Promise<void>;
  /** What arrived, in order; with an id only what came after that entry. */
  readonly log: (after?: number) => Promise<readonly LogEntry[]>;
}

interface Upstreams {
  readonly all: readonly Upstream[];
  readonly close: () => Promise<void>;
}

interface Addresses {
  readonly url: string;
  readonly controlUrl: string;
}

/** Starts upstreams in a thread. They are commanded over HTTP, as anybody could. */
export async function startUpstreams(
  options: readonly StacSandboxOptions[],
  thread = new URL('./upstream-thread.js', import.meta.url),
): Promise<Upstreams> {
  const worker = new Worker(thread, { workerData: options });
  const [addresses] = (await once(worker, 'message')) as [readonly Addresses[]];
  return {
    all: addresses.map(commanded),
    close: async () => void (await worker.terminate()),
  };
}

function commanded({ url, controlUrl }: Addresses): Upstream {
  const command = async (path: string, init?: RequestInit): Promise<Response> => {
    const answer = await fetch(controlUrl + path, init);
    if (!answer.ok) throw new DrillError(`the upstream refused ${path}: ${await answer.text()}`);
    return answer;
  };
  return {
    url,
    restart: async (seed) =>
      void (await command('/restart', { method: 'POST', body: JSON.stringify({ seed }) })),
    log: async (after = 0) => {
      const answer = await command(`/log?after=${after}`);
      const { entries } = (await answer.json()) as { readonly entries: readonly LogEntry[] };
      return entries;
    },
  };
}
