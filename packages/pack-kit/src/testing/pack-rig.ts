import {
  createPageTokens,
  runTool,
  zodType,
  type Envelope,
  type InputOf,
  type Pack,
  type PackDeps,
  type PackEvent,
  type PackInstance,
  type RunOptions,
  type Schema,
} from '@toolkeel/contract';

type Data = Readonly<Record<string, unknown>>;
type Failure = Extract<Envelope<Data>, { success: false }>['error'];
type Run<T> = (tool: string, args?: unknown, options?: RunOptions) => Promise<T>;

/** A running pack, and what it reported to its host. */
export interface PackRig {
  readonly instance: PackInstance;
  readonly events: PackEvent[];
  readonly logged: string[];
  /** The secrets that the pack registered for redaction. */
  readonly secrets: string[];
  /** The envelope of a call. An unexpected error of the handler is thrown. */
  readonly run: Run<Envelope<Data>>;
  /** The data of a call that must succeed. */
  readonly data: Run<Data>;
  /** The error of a call that must fail. */
  readonly error: Run<Failure>;
  /** The error code of a call, or `success`. */
  readonly code: Run<string>;
  readonly close: () => Promise<void>;
}

const tokens = createPageTokens({ keys: [Buffer.alloc(32, 7)] });

/** Creates a pack as a host does. Retries have no jitter unless `deps.random` is given. */
export async function createPackRig<Config extends Schema>(
  pack: Pack<Config>,
  config: InputOf<Config>,
  deps: Partial<PackDeps> = {},
): Promise<PackRig> {
  const events: PackEvent[] = [];
  const logged: string[] = [];
  const secrets: string[] = [];
  const instance = await pack.create(zodType(pack.configSchema).parse(config) as never, {
    now: () => performance.now(),
    random: () => 0,
    log: (...line) => logged.push(JSON.stringify(line)),
    observe: (event) => events.push(event),
    secret: (value) => secrets.push(value),
    ...deps,
  });
  const run: PackRig['run'] = async (name, args = {}, options = {}) => {
    const tool = instance.tools.find((one) => one.name === name);
    if (!tool) throw new Error(`The pack has no tool ${name}.`);
    const unexpected: unknown[] = [];
    const onUnexpected = (cause: unknown) => unexpected.push(cause);
    const result = await runTool(tool, args, { tokens, onUnexpected, ...options });
    for (const cause of unexpected) throw cause;
    return result.envelope as Envelope<Data>;
  };
  return {
    instance,
    events,
    logged,
    secrets,
    run,
    data: async (...call) => {
      const envelope = await run(...call);
      if (!envelope.success) throw new Error(`failed: ${JSON.stringify(envelope.error)}`);
      return envelope.data;
    },
    error: async (...call) => {
      const envelope = await run(...call);
      if (envelope.success) throw new Error(`succeeded: ${JSON.stringify(envelope.data)}`);
      return envelope.error;
    },
    code: async (...call) => {
      const envelope = await run(...call);
      return envelope.success ? 'success' : envelope.error.code;
    },
    close: () => instance.close(),
  };
}
