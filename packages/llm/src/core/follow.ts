const followers = new WeakMap<AbortSignal, Set<AbortController>>();

/**
 * Aborts the controller with the signal, until the returned function is called. All controllers of a
 * signal share one listener, because Node.js reports many listeners on one signal as a leak.
 */
export function follow(signal: AbortSignal | undefined, controller: AbortController): () => void {
  if (!signal) return () => undefined;
  if (signal.aborted) controller.abort(signal.reason);
  const all = followers.get(signal) ?? new Set();
  followers.set(signal, all.add(controller));
  // A listener that is registered already is not added again.
  signal.addEventListener('abort', onAbort, { once: true });
  return () => {
    if (all.delete(controller) && all.size === 0) signal.removeEventListener('abort', onAbort);
  };
}

function onAbort(this: AbortSignal): void {
  for (const controller of followers.get(this) ?? []) controller.abort(this.reason);
}
