import {
  runTool,
  type Envelope,
  type PackEvent,
  type PackInstance,
  type RunOptions,
} from '@toolkeel/contract';
import { configSchema, createLlmPack } from '@toolkeel/llm';
import type { LlmSandbox } from '@toolkeel/sandbox';
import { afterEach } from 'vitest';
import type * as z from 'zod';

type Answer = Readonly<Record<string, unknown>>;

export interface Rig {
  readonly instance: PackInstance;
  readonly events: PackEvent[];
  run(tool: string, args?: unknown, options?: RunOptions): Promise<Envelope<Answer>>;
}

const opened: PackInstance[] = [];

afterEach(async () => {
  for (const instance of opened.splice(0)) await instance.close();
});

/** The pack as a host runs it, with the sandbox as its only upstream. */
export async function packOf(
  sandbox: LlmSandbox | undefined,
  config: z.input<typeof configSchema> = {},
): Promise<Rig> {
  const events: PackEvent[] = [];
  const url = sandbox?.url;
  const settings = sandbox
    ? {
        ...config,
        gemini: { baseUrl: url, apiKey: { env: 'KEY' }, ...config.gemini },
        claude: { baseUrl: url, cliPath: sandbox.cliPath, ...config.claude },
      }
    : config;
  const env = sandbox ? { KEY: sandbox.apiKey, PATH: process.env['PATH'] } : {};
  const instance = await createLlmPack({ env }).create(configSchema.parse(settings), {
    now: () => performance.now(),
    random: () => 0,
    log: () => undefined,
    observe: (event) => events.push(event),
  });
  opened.push(instance);
  return {
    instance,
    events,
    run: async (name, args = {}, options = {}) => {
      const tool = instance.tools.find((one) => one.name === name);
      if (!tool) throw new Error(`no tool ${name}`);
      const unexpected: unknown[] = [];
      const onUnexpected = (cause: unknown) => unexpected.push(cause);
      const { envelope } = await runTool(tool, args, { onUnexpected, ...options });
      for (const cause of unexpected) throw cause;
      return envelope as Envelope<Answer>;
    },
  };
}
