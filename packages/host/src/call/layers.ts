import type { Middleware, Next } from '@toolkeel/contract';
import { chain, type HostMiddleware } from './around.js';
import type { RunningCall } from './scope.js';

/** Through the layers to the handler. After the call was answered they go on unheard. */
export function throughLayers(layers: readonly HostMiddleware[], call: RunningCall): Middleware {
  const enter = chain(layers, call);
  return (accepted, next) => {
    call.account = accepted.account;
    return enter(accepted, (extra) => next(extra ? within(call, extra) : call));
  };
}

/** What a layer gives goes before what the call has. */
function within(call: RunningCall, extra: NonNullable<Parameters<Next>[0]>): Parameters<Next>[0] {
  const { deadline = call.deadline, operation, onDelivered = call.onDelivered } = extra;
  if (operation) call.operationId = operation.id;
  return {
    deadline,
    get signal() {
      return extra.signal ?? call.signal;
    },
    ...(operation && { operation }),
    onDelivered,
  };
}
