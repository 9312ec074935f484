import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { Deliveries } from './deliveries.js';

const meta = () => ({ correlation_id: 'c' }) as never;
const messageWith = (given: object): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id: 1,
  // As the SDK passes on results: copied, but with the same values inside structured content.
  result: { content: [], structuredContent: { success: true, data: 1, meta: given } },
});

const setUp = () => {
  const report = vi.fn();
  const deliveries = new Deliveries(report);
  const expectOne = (callback: () => void, request?: Request) => {
    const own = meta();
    deliveries.expect({ meta: own }, [callback], request);
    return messageWith(own);
  };
  return { deliveries, report, expectOne };
};

describe('a result that a transport writes', () => {
  it('is delivered when its write is confirmed, and once', () => {
    const { deliveries, expectOne } = setUp();
    const delivered = vi.fn();
    const message = expectOne(delivered);
    const writing = deliveries.begin(message);
    expect(delivered).not.toHaveBeenCalled();
    writing?.confirm();
    writing?.confirm();
    expect(delivered).toHaveBeenCalledOnce();
    expect(deliveries.begin(message)).toBeUndefined();
  });

  it('is not delivered if its write failed, even if it is confirmed later', () => {
    const { deliveries, expectOne } = setUp();
    const delivered = vi.fn();
    const writing = deliveries.begin(expectOne(delivered));
    writing?.fail();
    writing?.confirm();
    expect(delivered).not.toHaveBeenCalled();
  });

  it('is distinguished from another result with the same id', () => {
    const { deliveries, expectOne } = setUp();
    const [first, second] = [vi.fn(), vi.fn()];
    const messages = [first, second].map((delivered) => expectOne(delivered));
    deliveries.begin(messages[1] as JSONRPCMessage)?.confirm();
    expect(second).toHaveBeenCalledOnce();
    expect(first).not.toHaveBeenCalled();
  });

  it('has the request that it belongs to', () => {
    const { deliveries, expectOne } = setUp();
    const request = new Request('http://localhost/mcp');
    expect(deliveries.begin(expectOne(vi.fn(), request))?.request).toBe(request);
  });

  it('reports what a callback throws, and still calls the next callback', () => {
    const { deliveries, report } = setUp();
    const bug = new Error('x');
    const own = meta();
    const throwing = vi.fn(() => {
      throw bug;
    });
    const next = vi.fn();
    deliveries.expect({ meta: own }, [throwing, next], undefined);
    deliveries.begin(messageWith(own))?.confirm();
    expect(report).toHaveBeenCalledExactlyOnceWith(bug);
    expect(next).toHaveBeenCalledOnce();
  });
});

it.each<[string, object]>([
  ['a notification', { method: 'notifications/progress', params: {} }],
  ['an error', { id: 1, error: { code: -32_000, message: 'x' } }],
  ['a result of another kind', { id: 1, result: { tools: [] } }],
  ['structured content that is not an object', { id: 1, result: { structuredContent: 'x' } }],
  ['an envelope without callbacks', messageWith({})],
  ['structured content without meta', { id: 1, result: { structuredContent: {} } }],
])('ignores %s', (_, message) => {
  const { deliveries } = setUp();
  expect(deliveries.begin({ jsonrpc: '2.0', ...message } as JSONRPCMessage)).toBeUndefined();
});

describe('waiting for transports', () => {
  it('ends at once if nothing is being written', async () => {
    const { deliveries, expectOne } = setUp();
    // Never sent: a cancelled request.
    expectOne(vi.fn());
    await deliveries.settled(Infinity);
  });

  it('ends when all writes are confirmed or have failed', async () => {
    const { deliveries, expectOne } = setUp();
    const [first, second] = [vi.fn(), vi.fn()].map((one) => deliveries.begin(expectOne(one)));
    const settled = vi.fn();
    const waiting = deliveries.settled(600_000).then(settled);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    first?.confirm();
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).not.toHaveBeenCalled();
    second?.fail();
    await waiting;
  });

  it('includes a result that reaches its transport some microtasks later', async () => {
    const { deliveries, expectOne } = setUp();
    const delivered = vi.fn();
    const message = expectOne(delivered);
    const waiting = deliveries.settled(600_000);
    for (let count = 0; count < 20; count += 1) await Promise.resolve();
    const writing = deliveries.begin(message);
    setImmediate(() => setImmediate(() => writing?.confirm()));
    await waiting;
    expect(delivered).toHaveBeenCalledOnce();
  });

  it('has a time limit, because a client may never read', async () => {
    const { deliveries, expectOne } = setUp();
    const delivered = vi.fn();
    deliveries.begin(expectOne(delivered));
    await deliveries.settled(1);
    expect(delivered).not.toHaveBeenCalled();
  });
});
