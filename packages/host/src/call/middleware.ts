import type { AcceptedCall, Middleware, Next, Settled } from '@toolkeel/contract';
import type { CallContext, RunningCall } from './running-call.js';

/**
 * Runs between the accepted arguments and the handler: policy, journal. A `Middleware` of the contract
 * is one; in a host it also receives the context of the call.
 */
export type HostMiddleware = (
  call: AcceptedCall,
  next: Next,
  context: CallContext,
) => Promise<Settled>;

type HandlerContext = NonNullable<Parameters<Next>[0]>;

/**
 * Composes middleware, the first outermost. Each adds to the handler's context what it passes to `next`.
 * After the call has ended, the rest of the chain still runs to completion.
 */
export function composeMiddleware(
  middleware: readonly HostMiddleware[],
  call: RunningCall,
): Middleware {
  return (accepted, handler) => {
    call.account = accepted.account;
    const enter = (index: number, added: HandlerContext | undefined): Promise<Settled> => {
      const layer = middleware[index];
      if (!layer) return handler(added ? handlerContext(call, added) : call);
      return layer(accepted, (more) => enter(index + 1, merge(added, more)), call);
    };
    return enter(0, undefined);
  };
}

function merge(
  added: HandlerContext | undefined,
  more: HandlerContext | undefined,
): HandlerContext | undefined {
  return added && more ? { ...added, ...more } : (more ?? added);
}

/** What middleware adds takes precedence over the call's own members. */
function handlerContext(call: RunningCall, added: HandlerContext): HandlerContext {
  const { deadline = call.deadline, operation, onDelivered = call.onDelivered } = added;
  if (operation) call.operationId = operation.id;
  return {
    deadline,
    get signal() {
      return added.signal ?? call.signal;
    },
    ...(operation && { operation }),
    onDelivered,
  };
}
