import { createHost, type Host, type HostMiddleware, type HostOptions } from '@toolkeel/host';
import { defineTool } from '@toolkeel/contract';
import * as z from 'zod';

/** A promise that a test resolves with `open`. */
const gate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

/** Controls a handler: `begun` opens when it starts, and it ends when the test opens `done`. */
interface Turn {
  readonly begun: ReturnType<typeof gate>;
  readonly done: ReturnType<typeof gate>;
}

/** A host whose middleware records delivered items. */
export const deliveringHost = (more: Partial<HostOptions> = {}) => {
  const delivered: string[] = [];
  const turns = new Map<string, Turn>();
  const turnOf = (item: string): Turn => {
    const turn = turns.get(item) ?? { begun: gate(), done: gate() };
    turns.set(item, turn);
    return turn;
  };
  const recordDelivery: HostMiddleware = async ({ args }, next, context) => {
    const settled = await next();
    const { item } = args as { item: string };
    context.onDelivered(() => delivered.push(item));
    return settled;
  };
  const shared = {
    title: 'Order',
    description: 'Orders.',
    category: 'write',
    effect: 'once',
    profiles: ['api', 'workflow'],
    input: z.object({ item: z.string() }),
    output: z.object({ item: z.string() }),
    errors: [],
  } as const;
  const host: Host = createHost({
    profile: 'api',
    middleware: [recordDelivery],
    tools: [
      defineTool({ ...shared, name: 'order', handler: ({ item }) => ({ item }) }),
      defineTool({
        ...shared,
        name: 'order_slowly',
        handler: async ({ item }, { progress }) => {
          const { begun, done } = turnOf(item);
          progress({ progress: 1 });
          begun.open();
          await done.opened;
          return { item };
        },
      }),
    ],
    ...more,
  });
  return { host, delivered, turnOf };
};

type Era = 'legacy' | 'modern';
export const eras: readonly Era[] = ['legacy', 'modern'];

const PREFIX = 'io.modelcontextprotocol';
const clientInfo = { name: 't', version: '1' };
const modern = {
  [`${PREFIX}/protocolVersion`]: '2026-07-28',
  [`${PREFIX}/clientCapabilities`]: {},
  [`${PREFIX}/clientInfo`]: clientInfo,
};

export const initialize = {
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
};

/** The JSON-RPC message of a call. Its id is its item. */
export const callOf = (era: Era, item: string, name = 'order', meta: object = {}) => ({
  jsonrpc: '2.0',
  id: item,
  method: 'tools/call',
  params: {
    name,
    arguments: { item },
    _meta: { ...(era === 'modern' && modern), ...meta },
  },
});

export const cancelOf = (era: Era, item: string) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId: item, ...(era === 'modern' && { _meta: modern }) },
});
