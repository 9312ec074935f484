import type { CallOptions } from './engine/call.js';
import type { Listener } from './events.js';

/** What surrounds a guarded call: the tool call that makes it, for example. */
export interface CallScope {
  readonly correlationId: string;
  /** Gets the events of the call, beside the listener of its guard. */
  readonly listener: Listener;
}

/** Shared by all copies of this package in a process. */
interface CallScopes {
  /** Set when something that asks for scopes has been loaded. Before that a host can do without them. */
  isUsed: boolean;
  /** Provided by a host: the scope of the code that is running. */
  current?: () => CallScope | undefined;
}

const KEY = Symbol.for('@toolkeel/kernel/scopes');
const shared = globalThis as { [KEY]?: CallScopes };

/** Where a host provides the scope of its calls, and guards look it up. */
export const callScopes: CallScopes = (shared[KEY] ??= { isUsed: false });

/** Options of a call that began in a scope. The scope is kept: timers of a call run outside of it. */
export interface ScopedOptions extends CallOptions {
  readonly listener?: Listener;
}

/** The options with the scope that the caller runs in. */
export function inScope(options: CallOptions | undefined): ScopedOptions | undefined {
  const scope = callScopes.current?.();
  if (!scope) return options;
  const { correlationId = scope.correlationId } = options ?? {};
  return { ...options, correlationId, listener: scope.listener };
}
