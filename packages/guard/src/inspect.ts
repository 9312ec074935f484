import { frameOf, type Message } from './frame.js';
import { createGuard, type GuardOptions } from './guard.js';
import type { GuardedTool } from './tools.js';

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'toolkeel', version: '0.1.0' },
} as const;

/** Starts a server, lists its tools with the effects that a guard would apply, and ends it. */
export async function inspectUpstream(
  options: GuardOptions,
  timeoutMs = 20_000,
): Promise<readonly GuardedTool[]> {
  const guard = createGuard({ log: () => {}, ...options });
  const waiting = new Map<unknown, (message: Message) => void>();
  try {
    const session = guard.open({
      send: ({ message }) => waiting.get(message.id)?.(message),
      pause: () => {},
      resume: () => {},
    });
    const ask = (id: number, method: string, params: Message['params']): Promise<Message> =>
      new Promise((resolve, reject) => {
        const late = (): void => reject(new Error(`did not answer ${method} in time`));
        const timer = setTimeout(late, timeoutMs);
        waiting.set(id, (message) => {
          clearTimeout(timer);
          if (message.error) reject(new Error(message.error.message));
          else resolve(message);
        });
        session.receive(frameOf({ jsonrpc: '2.0', id, method, params: params ?? {} }));
      });
    await ask(1, 'initialize', INITIALIZE);
    session.receive(frameOf({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    await ask(2, 'tools/list', {});
    await session.toolsListed();
    return guard.tools;
  } finally {
    await guard.close();
  }
}
