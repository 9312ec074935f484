import { vi } from 'vitest';
import type { Tool } from '../tool/tool.js';
import type { Middleware } from './options.js';
import { toolWith } from './run.fixture.js';

export const never = (): Promise<never> => new Promise(() => undefined);
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
export const fine = { id: 'a', n: 1 };
/** Settles after its first turn. */
export const slow = (): Promise<typeof fine> => turn().then(() => fine);
export const args = { id: 'a' };

/** The parts of a call that can hang. */
export const hanging: Record<string, { tool: Tool; middleware?: Middleware }> = {
  'a handler': { tool: toolWith(never) },
  'a middleware before the handler': { tool: toolWith(() => fine), middleware: never },
  'a middleware after the handler': {
    tool: toolWith(() => fine),
    middleware: async (_, next) => {
      await next();
      return never();
    },
  },
};

interface Watched {
  readonly controller: AbortController;
  readonly signal: AbortSignal;
  readonly listeners: ReadonlySet<unknown>;
}

/** A signal that exposes its listeners. */
export function watched(): Watched {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  vi.spyOn(signal, 'addEventListener').mockImplementation((type, listener) => {
    listeners.add(listener);
    EventTarget.prototype.addEventListener.call(signal, type, listener);
  });
  vi.spyOn(signal, 'removeEventListener').mockImplementation((type, listener) => {
    listeners.delete(listener);
    EventTarget.prototype.removeEventListener.call(signal, type, listener);
  });
  return { controller, signal, listeners };
}
