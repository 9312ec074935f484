import {
  createPageTokens,
  envelopeSchema,
  parseInput,
  runTool,
  type Envelope,
  type PackEvent,
  type PackInstance,
  type RunOptions,
} from '@toolkeel/contract';
import fc from 'fast-check';
import { afterEach, expect } from 'vitest';
import type * as z from 'zod';
import { configSchema, createStacPack, type RuntimeContext } from '../../src/index.js';
import { startServer, type Handler, type TestServer } from './server.js';

export interface Rig {
  readonly instance: PackInstance;
  readonly events: PackEvent[];
  run(tool: string, args?: unknown, options?: RunOptions): Promise<Envelope<Answer>>;
  /** The data of a call that must succeed. */
  data(tool: string, args?: unknown, options?: RunOptions): Promise<Answer>;
  /** The code of a call that must fail. */
  code(tool: string, args?: unknown, options?: RunOptions): Promise<string>;
  close(): Promise<void>;
}

type Answer = Readonly<Record<string, unknown>>;

const tokens = createPageTokens({ keys: [Buffer.alloc(32, 7)] });

/** The pack with catalogues on loopback only. */
async function createPackRig(
  config: z.input<typeof configSchema>,
  runtime: RuntimeContext = {},
): Promise<Rig> {
  const events: PackEvent[] = [];
  const pack = createStacPack({
    env: {},
    resolve: async (name) => {
      throw new Error(`a test must not resolve ${name}`);
    },
    ...runtime,
  });
  const parsed = configSchema.parse({ builtinCatalogs: false, ...config });
  const instance = await pack.create(parsed, {
    now: () => performance.now(),
    random: Math.random,
    log: () => {},
    observe: (event) => events.push(event),
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
  return {
    instance,
    events,
    run,
    data: async (name, args, options) => {
      const envelope = await run(name, args, options);
      if (!envelope.success) throw new Error(JSON.stringify(envelope.error));
      return envelope.data;
    },
    code: async (name, args, options) => {
      const envelope = await run(name, args, options);
      return envelope.success ? 'success' : envelope.error.code;
    },
    close: () => instance.close(),
  };
}

interface TestSetup {
  readonly rig: Rig;
  readonly server: TestServer;
}

type Config = z.input<typeof configSchema>;

/** Servers and packs that are closed after each test. */
export function useHarness() {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  const serve = async (handler: Handler, host?: string): Promise<TestServer> => {
    const server = await startServer(handler, host);
    closing.push(() => server.close());
    return server;
  };
  const createRig = async (config: Config, runtime?: RuntimeContext): Promise<Rig> => {
    const rig = await createPackRig(config, runtime);
    closing.push(() => rig.close());
    return rig;
  };
  /** One server as the only catalogue. */
  const setup = async (handler: Handler, config: Config = {}): Promise<TestSetup> => {
    const server = await serve(handler);
    const rig = await createRig({ catalogs: { test: { url: server.origin } }, ...config });
    return { rig, server };
  };
  return { serve, createRig, setup };
}

/** Valid and invalid argument values. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    '',
    '[',
    '[1,2,3]',
    '{"type":"Point"}',
    'http://127.0.0.1/',
    'file:///x',
    '2024-06-31',
    '..',
    'a'.repeat(9000),
    -1,
    0,
    1e9,
    1.5,
    [],
    [0, 0, 0],
    [10, 50, 11, 45],
    {},
    { type: 'Polygon', coordinates: [] },
    { include: 5 },
    '__proto__',
  ),
);

/** Calls every tool with random arguments: those that its schema rejects must not reach a server. */
export async function fuzzArguments({ rig, server }: TestSetup, runs: number): Promise<void> {
  for (const tool of rig.instance.tools) {
    const shape = Object.keys(tool.input.shape).filter((name) => name !== 'catalog_url');
    const args = fc.dictionary(fc.constantFrom(...shape, 'unknown'), value, { maxKeys: 5 });
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        const isRefused = !parseInput(tool, given).parsed.success;
        const before = server.requests.length;
        const envelope = await rig.run(tool.name, given);
        expect(envelopeSchema.safeParse(envelope).success).toBe(true);
        if (!isRefused) return;
        refused++;
        expect(envelope).toMatchObject({ success: false, error: { code: 'validation_error' } });
        expect(server.requests.length).toBe(before);
      }),
      { numRuns: runs },
    );
    expect(refused).toBeGreaterThan(runs / 4);
  }
}
