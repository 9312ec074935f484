import type { Call } from './call.js';

const waiting = new WeakMap<AbortSignal, Set<Call>>();

/**
 * Calls under one caller's signal share one listener: a hundred calls of one request would
 * otherwise be a hundred listeners and a warning about a leak.
 */
export function listenForAbort(signal: AbortSignal, call: Call): void {
  let calls = waiting.get(signal);
  if (calls === undefined) waiting.set(signal, (calls = new Set()));
  // Added once however often it is added.
  signal.addEventListener('abort', onAbort);
  calls.add(call);
}

export function stopListening(signal: AbortSignal, call: Call): void {
  const calls = waiting.get(signal);
  if (calls?.delete(call) && calls.size === 0) signal.removeEventListener('abort', onAbort);
}

function onAbort(this: AbortSignal): void {
  const calls = waiting.get(this);
  if (calls === undefined) return;
  waiting.delete(this);
  this.removeEventListener('abort', onAbort);
  for (const call of calls) call.cancel(this.reason);
}
