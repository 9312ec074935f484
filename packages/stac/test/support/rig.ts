import {
  createPageTokens,
  runTool,
  type Envelope,
  type PackEvent,
  type PackInstance,
  type RunOptions,
} from '@toolkeel/contract';
import type * as z from 'zod';
import { configSchema, createStacPack, type RuntimeContext } from '../../src/index.js';

export interface Rig {
  readonly instance: PackInstance;
  readonly events: PackEvent[];
  run(tool: string, args?: unknown, options?: RunOptions): Promise<Envelope<Answer>>;
  /** The data of a call that has to succeed. */
  data(tool: string, args?: unknown, options?: RunOptions): Promise<Answer>;
  /** The code of a call that has to fail. */
  code(tool: string, args?: unknown, options?: RunOptions): Promise<string>;
  close(): Promise<void>;
}

type Answer = Readonly<Record<string, unknown>>;

const tokens = createPageTokens({ keys: [Buffer.alloc(32, 7)] });

/** The pack with catalogues on loopback, and nobody else. */
export async function createRig(
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
