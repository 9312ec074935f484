import { AsyncLocalStorage } from 'node:async_hooks';
import type { PackDeps, Tool } from '@toolkeel/contract';
import type { CallScope } from '@toolkeel/kernel';
import { callScopes } from '@toolkeel/kernel/policy';

const storage = new AsyncLocalStorage<CallScope>();
const currentScope = (): CallScope | undefined => storage.getStore();

/**
 * The tool, whose guards report to `observe` without being told to, under the correlation id of the
 * call that they run in. A process without guards does not pay for it: on Node 20 asynchronous
 * storage slows down every promise once it was used.
 */
export function reporting(tool: Tool, observe: PackDeps['observe']): Tool {
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
