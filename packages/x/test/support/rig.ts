import {
  createPageTokens,
  runTool,
  type Envelope,
  type PackEvent,
  type PackInstance,
  type RunOptions,
} from '@toolkeel/contract';
import { createJournal, ephemeralEncryption, memoryStore } from '@toolkeel/journal';
import { startXSandbox, type Commit, type XSandbox, type XSandboxOptions } from '@toolkeel/sandbox';
import type * as z from 'zod';
import { configSchema, createXPack } from '../../src/index.js';
import { useClosing } from './closing.js';
import { startServer, type Answering, type TestServer } from './server.js';

type Answer = Readonly<Record<string, unknown>>;
export type Config = z.input<typeof configSchema>;

export interface Rig {
  readonly instance: PackInstance;
  readonly events: PackEvent[];
  readonly logged: string[];
  /** The secrets reported to the host. */
  readonly told: string[];
  run(tool: string, args?: unknown, options?: RunOptions): Promise<Envelope<Answer>>;
  /** The data of a call that must succeed. */
  data(tool: string, args?: unknown, options?: RunOptions): Promise<Answer>;
  /** The error of a call that must fail. */
  error(tool: string, args?: unknown, options?: RunOptions): Promise<Failure>;
  /** The code of a call that must fail. */
  code(tool: string, args?: unknown, options?: RunOptions): Promise<string>;
  close(): Promise<void>;
}

type Failure = Extract<Envelope<Answer>, { success: false }>['error'];

const tokens = createPageTokens({ keys: [Buffer.alloc(32, 7)] });

export const secrets = {
  APP: 'app-bearer-token',
  USER: 'user-access-token',
  SECRET: 'client-secret',
};

/** The pack, with an X on loopback. */
async function createRig(
  config: Config,
  env: Readonly<Record<string, string>> = secrets,
): Promise<Rig> {
  const events: PackEvent[] = [];
  const logged: string[] = [];
  const told: string[] = [];
  const instance = await createXPack({ env }).create(configSchema.parse(config), {
    now: () => performance.now(),
    // No jitter, for fast retries.
    random: () => 0,
    log: (...line) => logged.push(JSON.stringify(line)),
    observe: (event) => events.push(event),
    secret: (value) => told.push(value),
  });
  const run: Rig['run'] = async (name, args = {}, options = {}) => {
    const tool = instance.tools.find((one) => one.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    const unexpected: unknown[] = [];
    const onUnexpected = (cause: unknown) => unexpected.push(cause);
    const result = await runTool(tool, args, { tokens, onUnexpected, ...options });
    for (const cause of unexpected) throw cause;
    return result.envelope as Envelope<Answer>;
  };
  const error: Rig['error'] = async (name, args, options) => {
    const envelope = await run(name, args, options);
    if (envelope.success) throw new Error(`succeeded: ${JSON.stringify(envelope.data)}`);
    return envelope.error;
  };
  return {
    instance,
    events,
    logged,
    told,
    run,
    error,
    data: async (name, args, options) => {
      const envelope = await run(name, args, options);
      if (!envelope.success) throw new Error(JSON.stringify(envelope.error));
      return envelope.data;
    },
    code: async (name, args, options) => (await error(name, args, options)).code,
    close: () => instance.close(),
  };
}

/** Runs mutations in a journal, which reads back posts with an unknown outcome. */
export function journaled({ instance }: Rig, timeoutMs = 15_000): Pick<RunOptions, 'middleware'> {
  const journal = createJournal({
    store: memoryStore(),
    encryption: ephemeralEncryption(),
    tools: {
      specs: () => instance.tools,
      load: (name) => instance.tools.find((tool) => tool.name === name),
    },
  });
  const { signal } = new AbortController();
  return {
    middleware: (call, next) => {
      const deadline = performance.now() + timeoutMs;
      const scope = { deadline, signal, meta: {}, hold: () => undefined };
      return journal.middleware(call, (extra) => next({ deadline, signal, ...extra }), scope);
    },
  };
}

interface SandboxWorld {
  readonly rig: Rig;
  readonly sandbox: XSandbox;
  /** Another instance of the pack. */
  readonly another: (config?: Config) => Promise<Rig>;
}

/** A sandbox and an authenticated pack, closed with the suite. */
export function useSandbox() {
  const onClose = useClosing();
  return async (options: XSandboxOptions = {}, config: Config = {}): Promise<SandboxWorld> => {
    const sandbox = await startXSandbox(options);
    onClose(() => sandbox.close());
    const { credentials } = sandbox;
    const another = async (more: Config = {}): Promise<Rig> => {
      const env = { APP: credentials.bearerToken, USER: credentials.accessToken };
      const tier = options.tier ?? 'self_serve';
      const rig = await createRig(
        { baseUrl: sandbox.url, accessToken: { env: 'USER' }, tier, ...config, ...more },
        env,
      );
      onClose(() => rig.close());
      return rig;
    };
    return { rig: await another(), sandbox, another };
  };
}

type Made = Extract<Commit, { readonly kind: 'post.created' }>;

/** The posts that X has created, in order. */
export function created(sandbox: XSandbox): readonly Made[] {
  return sandbox.commits().filter((commit): commit is Made => commit.kind === 'post.created');
}

export interface World {
  readonly rig: Rig;
  readonly server: TestServer;
}

/** Servers and packs, closed with the suite. */
export function useWorld() {
  const onClose = useClosing();
  const serve = async (answering: Answering): Promise<TestServer> => {
    const server = await startServer(answering);
    onClose(() => server.close());
    return server;
  };
  const rigFor = async (config: Config): Promise<Rig> => {
    const rig = await createRig(config);
    onClose(() => rig.close());
    return rig;
  };
  /** A scripted X and an authenticated pack. */
  const world = async (answering: Answering, config: Config = {}): Promise<World> => {
    const server = await serve(answering);
    const rig = await rigFor({
      baseUrl: server.origin,
      accessToken: { env: 'USER' },
      ...config,
    });
    return { rig, server };
  };
  return { serve, rigFor, world, onClose };
}
