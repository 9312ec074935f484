import type { CallOptions } from './engine/call.js';
import type { Listener } from './events.js';

/** The context that a call runs in, such as a tool call. */
export interface CallScope {
  readonly correlationId: string;
  /** Receives the events of the call, in addition to its own listener. */
  readonly listener: Listener;
}

/** Shared by all copies of this package in the process. */
interface CallScopes {
  /** True once `withResilience` is loaded. Until then a host need not track scopes. */
  isUsed: boolean;
  /** Set by a host: returns the scope of the running code. */
  current?: () => CallScope | undefined;
}

const KEY = Symbol.for('@toolkeel/kernel/scopes');
const shared = globalThis as { [KEY]?: CallScopes };

/** The registry through which a host provides the scope of its calls. */
export const callScopes: CallScopes = (shared[KEY] ??= { isUsed: false });

/** Options of a call with its scope's listener, because timers of the call run outside the scope. */
export interface ScopedOptions extends CallOptions {
  readonly listener?: Listener;
}

/** Adds the current scope to the options of a call. */
export function addScope(options: CallOptions | undefined): ScopedOptions | undefined {
  const scope = callScopes.current?.();
  if (!scope) return options;
  const { correlationId = scope.correlationId } = options ?? {};
  return { ...options, correlationId, listener: scope.listener };
}
