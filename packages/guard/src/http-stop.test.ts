import { afterEach, describe, expect, it } from 'vitest';
import { createRig, text, type Rig } from './rig.fixture.js';

let rig: Rig | undefined;
afterEach(() => rig?.close());

const headers = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  'mcp-protocol-version': '2025-11-25',
};

describe('a guard on HTTP that is stopped while a mutation is in flight', () => {
  it('answers the call before it ends the server', async () => {
    rig = createRig({ settings: { http: { port: 0, graceSecs: 60 } } });
    const { upstream, guard } = rig;
    const { url, close } = await guard.listen();
    const post = (body: object, more: Readonly<Record<string, string>> = {}) =>
      fetch(new URL('/mcp', url), {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      });
    const clientInfo = { name: 'test', version: '1' };
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const opened = await post({ id: 1, method: 'initialize', params: initialize });
    await opened.text();
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    await post({ method: 'notifications/initialized' }, session);
    const call = { id: 2, method: 'tools/call', params: { name: 'add', arguments: { k: 1 } } };
    const answered = post(call, session).then((response) => response.text());
    await expect.poll(() => upstream.calls.length).toBe(1);
    const stopped = close();
    // A stop that did not wait for the call would have cut its connection by then.
    await fetch(new URL('/healthz', url)).catch(() => undefined);
    upstream.send({ id: upstream.calls[0]!.id, result: text('done') });
    expect(await answered).toMatch(/"text":"done"/);
    await stopped;
  });
});
