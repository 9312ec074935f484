import type { AcceptedCall, Middleware, Next, Settled } from '@toolkeel/contract';
import type { CallScope } from './scope.js';

/**
 * What stands between accepted arguments and the handler: policy, journal. An `Around` of the
 * contract is one, too; here it also sees the call's scope.
 */
export type HostMiddleware = (call: AcceptedCall, next: Next, scope: CallScope) => Promise<Settled>;

/** One after the other, the first outermost. What each adds to the context adds up. */
export function chain(layers: readonly HostMiddleware[], scope: CallScope): Middleware {
  return (call, handler) => {
    const enter = (index: number, given: Parameters<Next>[0]): Promise<Settled> => {
      const layer = layers[index];
      if (layer === undefined) return given === undefined ? handler() : handler(given);
      return layer(call, (extra) => enter(index + 1, merge(given, extra)), scope);
    };
    return enter(0, undefined);
  };
}

function merge(given: Parameters<Next>[0], extra: Parameters<Next>[0]): Parameters<Next>[0] {
  return given === undefined || extra === undefined ? (extra ?? given) : { ...given, ...extra };
}
