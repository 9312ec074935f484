import {
  implementTool,
  withSendToken,
  type CheckContext,
  type ErrorCode,
  type HandlerResult,
  type ObjectSchema,
  type OutputOf,
  type PackHealth,
  type Schema,
  type Tool,
  type ToolBehaviour,
  type ToolContext,
  type ToolSpec,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import {
  asFault,
  describeFailure,
  faultToError as baseFaultToError,
  type FaultMapping,
} from './faults.js';
import type { RequestContext, WriteContext } from './http/client.js';
import { memberOf } from './json.js';

/** A tool call as its requests see it. All of them share one deadline. */
export interface CallContext extends WriteContext {
  /** The operation in the journal, for the upstream to store with what it creates; undefined for a read. */
  readonly operationId?: string | undefined;
  readonly noteRetry: () => void;
  readonly progress: ToolContext['progress'];
}

/** The context of a call that ends at the latest `capMs` from now. `beforeSend` may refuse its writes. */
export function callContextOf(
  context: ToolContext,
  now = 0,
  capMs = Infinity,
  beforeSend?: (signal: AbortSignal) => Promise<void>,
): CallContext {
  const { operation, correlationId, noteRetry, retryUnsent, progress } = context;
  return {
    deadline: Math.min(context.deadline, now + capMs),
    // A getter, because the host creates the signal on first access.
    get signal() {
      return context.signal;
    },
    correlationId,
    noteRetry,
    retryUnsent,
    operationId: operation?.id,
    progress,
    send: async (write, { signal = context.signal } = {}) => {
      await beforeSend?.(signal);
      return operation ? operation.send(write, { signal }) : withSendToken(0, write);
    },
  };
}

/** The same call with an earlier deadline. */
export function withDeadline<C extends RequestContext>(context: C, deadline: number): C {
  return { ...context, deadline: Math.min(context.deadline, deadline) };
}

/** Limits optional work to a share of the remaining time. */
export function withTimeShare<C extends RequestContext>(context: C, now: number, share: number): C {
  return withDeadline(context, now + (context.deadline - now) * share);
}

type Arguments = Readonly<Record<string, unknown>>;

export interface ToolFactoryOptions<Client, Call extends object> {
  /** What handlers get besides their arguments. Default: `callContextOf(context)`, without a cap. */
  readonly callOf?: (client: Client, context: ToolContext, args: Arguments) => Call;
  /** Maps the faults of the upstream. Every tool declares the codes of this mapping. */
  readonly faultToError?: FaultMapping | undefined;
  /** What all tools have in common. `check` runs before the tool's own. */
  readonly common?: (
    client: Client,
    spec: Pick<ToolSpec, 'name' | 'mutation'>,
  ) => Partial<Pick<Tool, 'account' | 'accountId'>> & {
    readonly check?: (context: CheckContext) => Promise<void>;
  };
}

/** Creates the function that implements a pack's tools. It maps faults to tool errors. */
export function createToolFactory<Client, Call extends object = CallContext>({
  callOf = (_client, context) => callContextOf(context) as never,
  faultToError = baseFaultToError,
  common = () => ({}),
}: ToolFactoryOptions<Client, Call> = {}) {
  return <
    In extends ObjectSchema,
    Out extends Schema,
    Code extends ErrorCode,
    Data extends Schema,
    Cursor extends Schema,
  >(
    spec: ToolSpec<In, Out, Code, Data, Cursor>,
    client: Client,
    run: (
      args: OutputOf<In>,
      call: Call & { readonly cursor: OutputOf<Cursor> | undefined },
    ) => Promise<HandlerResult<Out, Code, Data, Cursor>>,
    behaviour: Omit<ToolBehaviour<In, Out, Code, Cursor, never>, 'handler' | 'faultToError'> = {},
  ): Tool<In, Out> => {
    const { check, ...shared } = common(client, spec);
    return implementTool(spec, {
      ...(shared as object),
      ...behaviour,
      ...(check && {
        check: (args: OutputOf<In>, context: CheckContext) =>
          withFaults(async () => {
            await check(context);
            return behaviour.check?.(args, context);
          }),
      }),
      handler: (args: OutputOf<In>, context: ToolContext<OutputOf<Cursor>>) =>
        withFaults(async () => {
          const { cursor } = context;
          return run(args, Object.assign(callOf(client, context, args), { cursor }));
        }),
      faultToError: faultToError as never,
    });
  };
}

const withFaults = <T>(run: () => Promise<T>): Promise<T> =>
  run().catch((cause: unknown) => {
    throw asFault(cause);
  });

const HEALTH_TIMEOUT_MS = 5_000;

/**
 * A health check with a deadline that never rejects. Concurrent checks share one, so that they do not
 * multiply requests.
 */
export function createHealthCheck(
  now: () => number,
  check: (call: CallContext) => Promise<PackHealth>,
): () => Promise<PackHealth> {
  let running: Promise<PackHealth> | undefined;
  const start = (): Promise<PackHealth> =>
    check({
      deadline: now() + HEALTH_TIMEOUT_MS,
      signal: new AbortController().signal,
      correlationId: 'health',
      noteRetry: () => undefined,
      progress: () => undefined,
      send: () => Promise.reject(new TypeError('A health check does not write.')),
    })
      .catch((cause: unknown) => {
        const { message } = describeFailure(cause) ?? { message: 'The health check failed.' };
        return { ok: false, detail: `${message}${causeOf(cause)}` };
      })
      .finally(() => (running = undefined));
  return () => (running ??= start());
}

/** The status, the timeout or the system error code of a fault, for the operator. */
export function causeOf(cause: unknown): string {
  if (!(cause instanceof FaultError)) return '';
  const { status, clock, cause: thrown } = cause.fault;
  const code = memberOf(thrown, 'code');
  const detail = status ?? clock ?? (typeof code === 'string' ? code : undefined);
  return detail === undefined ? '' : ` (${detail})`;
}
