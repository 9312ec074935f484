import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  acceptControls,
  type Envelope,
  envelopeSchema,
  type Pack,
  type PackRecords,
} from '@toolkeel/contract';
import { createHost, decideBy } from '@toolkeel/host';
import {
  createJournal,
  openEncryption,
  openStore,
  packRecords,
  type Journal,
  type JournalOptions,
  type JournalStore,
} from '@toolkeel/journal';
import { compilePolicy, type PolicyConfig } from '@toolkeel/policy';
import type { XSandbox } from '@toolkeel/sandbox';
import { expect } from 'vitest';
import { createXPack, x } from '../../src/index.js';
import { useClosing } from './closing.js';
import type { Config } from './rig.js';

export interface Governed extends Connected {
  readonly store: JournalStore;
  /** The decisions of operators. */
  readonly approvals: Journal['approvals'];
  readonly records: (pack: string) => PackRecords;
}

export interface ServeOptions {
  /** The data directory. Servers that share it are one installation. */
  readonly folder: string;
  readonly config: Config;
  readonly env?: Readonly<Record<string, string>>;
  readonly rules?: PolicyConfig;
  readonly journal?: Partial<JournalOptions>;
  readonly profile?: 'readonly' | 'api' | 'workflow';
  /** Tools that the operator removed. */
  readonly exclude?: readonly string[];
  /** How long a call searches for a post with an unknown outcome. */
  readonly readBackMs?: number;
}

/** No jitter, for fast retries. */
const hasty = (pack: Pack): Pack => ({
  ...pack,
  create: (config, deps) => pack.create(config, { ...deps, random: () => 0 }),
});

/** A host on loopback with a SQLite journal and a policy, and a client. */
async function serve(options: ServeOptions): Promise<Governed> {
  const { folder, config, env = {}, rules = {}, profile = 'api', readBackMs } = options;
  const compiled = compilePolicy(rules, { profile, tools: x.describe().map(acceptControls) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
  const { policy } = compiled;
  const store = await openStore('sqlite:journal.db', { dataDir: folder });
  const encryption = await openEncryption(store, folder);
  let journal: Journal | undefined;
  let closing: Promise<void> | undefined;
  const { mode } = policy;
  const approvalMode = mode === 'composer';
  const host = createHost({
    packs: [
      {
        pack: hasty(createXPack({ env, ...(readBackMs !== undefined && { readBackMs }) })),
        config,
        excluded: new Set(options.exclude),
      },
    ],
    profile: profile === 'workflow' ? { name: profile, mode, approvalMode } : profile,
    policy,
    records: (pack) => packRecords({ store, encryption, pack }),
    journal: (deps) => {
      const decide = decideBy(policy);
      journal = createJournal({ store, encryption, decide, ...deps, ...options.journal });
      return journal;
    },
    callTimeoutMs: (config.toolTimeoutSecs ?? 15) * 1000,
  });
  const http = await host.listen({ port: 0 });
  const client = await connect(`${http.url}/mcp`);
  return {
    ...client,
    store,
    approvals: journal!.approvals,
    records: (pack) => packRecords({ store, encryption, pack }),
    close: () => {
      closing ??= (async () => {
        await client.close();
        await http.close();
        await host.close(0);
        await store.close();
      })();
      return closing;
    },
  };
}

/** Folders and servers, closed with the suite. */
export function useGoverned() {
  // Closed last, when no server uses a folder any more.
  const afterAllElse = useClosing();
  const onClose = useClosing();
  return {
    newFolder: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'toolkeel-x-'));
      afterAllElse(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    onClose,
    start: async (options: ServeOptions): Promise<Governed> => {
      const server = await serve(options);
      onClose(() => server.close());
      return server;
    },
  };
}

/** Configuration and secrets for the user of a sandbox. */
export function loginTo(sandbox: XSandbox, config: Config = {}) {
  const tier = sandbox.tier();
  return {
    config: { baseUrl: sandbox.url, accessToken: { env: 'USER' }, tier, ...config },
    env: { USER: sandbox.credentials.accessToken, APP: sandbox.credentials.bearerToken },
  };
}

export type Answer = Envelope<Readonly<Record<string, unknown>>>;

/** An MCP client that returns envelopes. */
export interface Connected {
  call(tool: string, args?: object): Promise<Answer>;
  tools(): Promise<readonly string[]>;
  close(): Promise<void>;
}

async function connect(url: string): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    call: async (name, args = {}) => {
      const { structuredContent, content, isError } = await client.callTool({
        name,
        arguments: { ...args },
      });
      // Structured content and text block contain the same envelope.
      expect(envelopeSchema.safeParse(structuredContent).error).toBeUndefined();
      const answer = structuredContent as Answer;
      expect(JSON.parse((content[0] as { readonly text: string }).text)).toEqual(answer);
      expect(isError ?? false).toBe(!answer.success);
      return answer;
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  };
}

/** Longer than any read-back. */
const SETTLES_MS = 30_000;

/**
 * Repeats a call while it is answered with `idempotency_in_flight`: how long another process still works on
 * the operation depends on the machine.
 */
export async function settledCall(
  server: Pick<Connected, 'call'>,
  tool: string,
  args: object,
): Promise<Answer> {
  const until = performance.now() + SETTLES_MS;
  for (;;) {
    const answer = await server.call(tool, args);
    const isInFlight = !answer.success && answer.error.code === 'idempotency_in_flight';
    if (!isInFlight || performance.now() > until) return answer;
    await setTimeout(answer.error.retry_after_ms ?? 100);
  }
}

/** `ok`, or the code and outcome of the failure. */
export function ending(answer: Answer): string {
  if (answer.success) return 'ok';
  const { code, outcome } = answer.error;
  return outcome === undefined ? code : `${code} ${outcome}`;
}

const program = fileURLToPath(new URL('server-process.mjs', import.meta.url));

export interface Mortal extends Connected {
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Sets how far its clock is ahead. */
  setAhead(aheadMs: number): Promise<void>;
}

/** Servers in their own processes, killed with the suite. */
export function useProcesses() {
  const onClose = useClosing();
  const end = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  /** `aheadMs`: how far its clock is ahead. */
  return async (x: XSandbox, folder: string, aheadMs = 0, more: object = {}): Promise<Mortal> => {
    const { config, env: secrets } = loginTo(x);
    const child = spawn(process.execPath, [program], {
      env: {
        ...process.env,
        X_SERVER: JSON.stringify({ folder, config, secrets, aheadMs, ...more }),
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    onClose(() => end(child));
    const [first] = (await Promise.race([
      once(child.stdout!, 'data'),
      once(child, 'exit').then(() => {
        throw new Error('the server did not start');
      }),
    ])) as [Buffer];
    const client = await connect(first.toString().trim());
    const kill = async (): Promise<void> => {
      await end(child);
      // The client would wait for the response forever.
      await client.close();
    };
    const setAhead = async (next: number): Promise<void> => {
      const isSet = once(child, 'message');
      child.send({ aheadMs: next });
      await isSet;
    };
    return { ...client, kill, setAhead };
  };
}
