import {
  createPageTokens,
  runTool,
  type Envelope,
  type PackEvent,
  type PackInstance,
  type RunOptions,
} from '@toolkeel/contract';
import { createJournal, ephemeralEncryption, memoryStore } from '@toolkeel/journal';
import {
  startGithubSandbox,
  type GithubSandbox,
  type GithubSandboxOptions,
} from '@toolkeel/sandbox';
import { afterEach } from 'vitest';
import type * as z from 'zod';
import { configSchema, createGitHubPack } from '../../src/index.js';

/** A result of any tool, read without its schema. */
export type Data = Readonly<Record<string, never>>;
export type Config = z.input<typeof configSchema>;
type Failure = Extract<Envelope<Data>, { success: false }>['error'];

export interface Rig {
  readonly instance: PackInstance;
  /** Lets time pass for the journal. */
  later(ms: number): void;
  readonly events: PackEvent[];
  run(tool: string, args?: unknown, options?: RunOptions): Promise<Envelope<Data>>;
  /** The data of a call that must succeed. */
  data(tool: string, args?: unknown, options?: RunOptions): Promise<Data>;
  /** The error of a call that must fail. */
  error(tool: string, args?: unknown, options?: RunOptions): Promise<Failure>;
}

const tokens = createPageTokens({ keys: [Buffer.alloc(32, 7)] });

const closing: (() => Promise<unknown>)[] = [];

export const onClose = (close: () => Promise<unknown>): void => void closing.push(close);

export const closeAfterEach = (): void => {
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
  });
};

export async function createRig(
  config: Config,
  env: Readonly<Record<string, string>>,
): Promise<Rig> {
  const events: PackEvent[] = [];
  const pack = createGitHubPack({ env });
  const instance = await pack.create(configSchema.parse(config), {
    now: () => performance.now(),
    random: () => 0,
    log: () => undefined,
    observe: (event) => events.push(event),
  });
  onClose(() => instance.close());
  let aheadMs = 0;
  const journal = createJournal({
    store: memoryStore({ now: () => Date.now() + aheadMs }),
    encryption: ephemeralEncryption(),
    tools: {
      specs: () => instance.tools,
      load: (name) => instance.tools.find((tool) => tool.name === name),
    },
  });
  const middleware: RunOptions['middleware'] = (call, next) => {
    const { signal } = new AbortController();
    const deadline = performance.now() + 30_000;
    const scope = { deadline, signal, meta: {}, hold: () => undefined };
    return journal.middleware(call, (extra) => next({ deadline, signal, ...extra }), scope);
  };
  const run: Rig['run'] = async (name, args = {}, options = {}) => {
    const tool = instance.tools.find((one) => one.name === `github_${name}`);
    if (!tool) throw new Error(`no tool github_${name}`);
    const unexpected: unknown[] = [];
    const onUnexpected = (cause: unknown) => unexpected.push(cause);
    const journaled = tool.mutation ? { middleware } : {};
    const result = await runTool(tool, args, { tokens, onUnexpected, ...journaled, ...options });
    for (const cause of unexpected) throw cause;
    return result.envelope as Envelope<Data>;
  };
  return {
    instance,
    later: (ms) => {
      aheadMs += ms;
    },
    events,
    run,
    data: async (name, args, options) => {
      const envelope = await run(name, args, options);
      if (!envelope.success) throw new Error(JSON.stringify(envelope.error));
      return envelope.data;
    },
    error: async (name, args, options) => {
      const envelope = await run(name, args, options);
      if (envelope.success) throw new Error(`succeeded: ${JSON.stringify(envelope.data)}`);
      return envelope.error;
    },
  };
}

export interface World {
  readonly rig: Rig;
  readonly github: GithubSandbox;
  /** The landmark repository as an argument. */
  readonly repo: string;
  /** Another instance of the pack, with the same or another token. */
  readonly another: (config?: Config, token?: string) => Promise<Rig>;
}

export const allToolsets = { toolsets: ['core', 'write', 'actions'] } as const;

/** A sandbox and a pack without pauses between mutations. */
export async function world(
  options: GithubSandboxOptions = {},
  config: Config = {},
): Promise<World> {
  const github = await startGithubSandbox(options);
  onClose(() => github.close());
  const another = (more: Config = {}, token = github.token): Promise<Rig> =>
    createRig(
      {
        baseUrl: github.url,
        token: { env: 'TOKEN' },
        toolsets: [...allToolsets.toolsets],
        pacing: { mutationIntervalMs: 0 },
        maxRetries: 0,
        trustedOrigins: [github.logsUrl],
        ...config,
        ...more,
      },
      { TOKEN: token },
    );
  const { owner, repo } = github.landmarks;
  return { rig: await another(), github, repo: `${owner}/${repo}`, another };
}

/** All pages of a list tool, and their sizes. */
export async function allPages(rig: Rig, tool: string, args: object, items: string) {
  const all: Data[] = [];
  let pages = 0;
  let next_token: string | undefined;
  do {
    const envelope = await rig.run(tool, {
      ...args,
      ...(next_token !== undefined && { next_token }),
    });
    if (!envelope.success) throw new Error(JSON.stringify(envelope.error));
    all.push(...(envelope.data[items] as unknown as Data[]));
    pages += 1;
    next_token = envelope.meta.pagination?.next_token;
  } while (next_token !== undefined);
  return { all, pages };
}
