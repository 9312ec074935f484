import { AsyncLocalStorage } from 'node:async_hooks';
import {
  faulted,
  type Faulted,
  type PackDeps,
  type RunClock,
  type Tool,
  type ToolSpec,
} from '@toolkeel/contract';
import type { CallScope } from '@toolkeel/kernel';
import { callScopes } from '@toolkeel/kernel/policy';

/** A tool that can be called. Its pack may not be created yet. */
export interface Callable {
  readonly spec: ToolSpec;
  readonly load: () => Tool | Promise<Tool>;
  readonly timeoutMs: number;
  /** The name in metrics and logs. Default: the tool's name. */
  readonly name?: string;
  readonly byteBudget?: number;
  /** Whether the kernel's events report all retries: see `CallStats.retryCount`. */
  readonly reportsEvents: boolean;
}

/**
 * Loads the tool, and creates its pack if necessary, before the deadline. If that fails, the call still
 * gets an envelope: a stand-in fails in its check, before the journal asks for an approval.
 */
export function loadTool(
  { spec, load }: Callable,
  deadline: number,
  clock: RunClock,
): Tool | Promise<Tool> {
  const standIn = (fail: () => Faulted): Tool => ({ ...spec, check: fail, handler: fail });
  const failed = (cause: unknown): Tool =>
    standIn(() => {
      throw cause;
    });
  const timedOut = (): Tool =>
    standIn(() => faulted({ kind: 'timeout', clock: 'deadline', sent: 'no' }));
  try {
    const tool = load();
    if (!(tool instanceof Promise)) return tool;
    return new Promise((resolve) => {
      const timer = clock.setTimer(Math.max(0, deadline - clock.now()), () => resolve(timedOut()));
      const settle = (loaded: Tool): void => {
        clock.clearTimer(timer);
        resolve(loaded);
      };
      tool.then(settle, (cause: unknown) => settle(failed(cause)));
    });
  } catch (cause) {
    return failed(cause);
  }
}

const storage = new AsyncLocalStorage<CallScope>();
const currentScope = (): CallScope | undefined => storage.getStore();

/**
 * Wraps a tool so that resilient functions which it calls report to `observe` under the correlation id
 * of the call, without any wiring. A process without such functions does not pay for it: on Node 20,
 * asynchronous storage slows down every promise once it is used.
 */
export function reportEvents(tool: Tool, observe: PackDeps['observe']): Tool {
  const inScope =
    <Args, Context extends { readonly correlationId: string }, Result>(
      run: (args: Args, context: Context) => Result,
    ) =>
    (args: Args, context: Context): Result => {
      if (!callScopes.isUsed) return run(args, context);
      callScopes.current = currentScope;
      const { correlationId } = context;
      return storage.run({ correlationId, listener: observe }, run, args, context);
    };
  return {
    ...tool,
    handler: inScope(tool.handler),
    ...(tool.check && { check: inScope(tool.check) }),
    ...(tool.accountId && { accountId: inScope(tool.accountId) }),
  };
}
