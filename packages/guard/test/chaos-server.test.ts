import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, newChaos, startHttpChaos } from './support/chaos.js';
import { revisions } from './support/frames.js';
import { rawHttp, rawStdio } from './support/raw-client.js';

afterAll(cleanUp);

/** The chaos server tests the guard, so that it works is shown with the SDK's client and without the guard. */
describe('the chaos server', () => {
  it.each(['stdio', 'HTTP'])('works with the client of the SDK over %s', async (transport) => {
    const chaos = newChaos();
    const [command, ...args] = chaos.command();
    for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(
        transport === 'stdio'
          ? new StdioClientTransport({ command, args })
          : new StreamableHTTPClientTransport(new URL((await startHttpChaos(chaos)).url)),
      );
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('write');
      const answer = await client.callTool({ name: 'write', arguments: { key: 'a' } });
      expect(answer.content).toEqual([{ type: 'text', text: 'done a' }]);
      await client.close();
    }
    expect(chaos.effects('a')).toHaveLength(2);
  });

  it.each(revisions)('answers twice, with wrong ids and with garbage in %s', async (revision) => {
    const chaos = newChaos();
    const client = await rawStdio({ command: chaos.command(), env: {}, cwd: chaos.dir }, revision);
    await client.call('read', { key: 'a', fault: 'duplicate' });
    await client.call('read', { key: 'b', fault: 'wrong_id_then_right' });
    await client.call('read', { key: 'c', fault: 'null_id_then_right' });
    await client.call('read', { key: 'd', fault: 'garbage' });
    const { error } = await client.call('read', { key: 'e', fault: 'rpc_error' });
    expect(error?.code).toBe(-32603);
    const text = client.inbox.problems.join('\n');
    for (const problem of ['answered twice', 'answers no request', 'without an id', 'not JSON'])
      expect(text).toContain(problem);
    await client.close();
  });

  it.each(revisions)('cuts streams and answers 202 over HTTP in %s', async (revision) => {
    const { url } = await startHttpChaos(newChaos());
    const client = await rawHttp(url, revision);
    const { result } = await client.call('read', { key: 'a', fault: 'sse' });
    expect(result?.content?.[0]?.text).toBe('done a');
    for (const fault of ['sse_cut', 'sse_eof', 'empty_202', 'reset'])
      await expect(client.call('read', { key: fault, fault })).rejects.toThrow();
  });

  it('loses no effect when it is killed, and counts calls over restarts', async () => {
    const chaos = newChaos();
    const program = { command: chaos.command(), env: {}, cwd: chaos.dir };
    const first = await rawStdio(program, '2025-11-25');
    void first.call('write', { key: 'a', fault: 'crash', times: 1 });
    await expect.poll(() => chaos.effects('a').length).toBe(1);
    const second = await rawStdio(program, '2025-11-25');
    const { result } = await second.call('write', { key: 'a', fault: 'crash', times: 1 });
    expect(result?.content?.[0]?.text).toBe('done a');
    expect(chaos.effects('a')).toHaveLength(2);
    await second.close();
  });
});
