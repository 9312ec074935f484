import { Client as ClientV2 } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { afterEach, describe, expect, it } from 'vitest';
import { frameOf, type Message } from './frame.js';
import { createRig, readTool, text, writeTool, type Rig, type RigOptions } from './rig.fixture.js';

let rig: Rig;
afterEach(() => rig.close());

interface SdkClient {
  readonly listTools: () => Promise<unknown>;
  readonly callTool: (call: { name: string; arguments: object }) => Promise<unknown>;
}

/** Connects a client of an SDK to the guard of this process. */
async function connect(version: string): Promise<SdkClient> {
  const transport: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: (message) => {
      session.receive(frameOf(message as Message));
      return Promise.resolve();
    },
  };
  const session = rig.guard.open({
    send: ({ message }, written) => {
      transport.onmessage?.(message as JSONRPCMessage);
      written?.(true);
    },
    pause: () => {},
    resume: () => {},
  });
  const info = { name: 'test', version: '1' };
  if (version === '1') {
    const client = new ClientV1(info);
    await client.connect(transport);
    return client as unknown as SdkClient;
  }
  const client = new ClientV2(info);
  await client.connect(transport);
  return client as unknown as SdkClient;
}

const outputSchema = {
  type: 'object',
  properties: { id: { type: 'number' } },
  required: ['id'],
};
const tools = [
  { ...readTool, outputSchema },
  { ...writeTool, outputSchema, inputSchema: { type: 'object', required: ['title'] } },
  { ...readTool, name: 'find' },
];
const envelopeOf = (result: unknown): unknown => {
  const { content } = result as { content: readonly [{ text: string }] };
  return JSON.parse(content[0].text);
};

describe.each(['1', '2'])('a tool with an output schema, with the SDK of version %s', (version) => {
  const open = async (options: RigOptions): Promise<SdkClient> => {
    rig = createRig({ tools, ...options });
    const client = await connect(version);
    await client.listTools();
    return client;
  };

  it('shows a lost write, invalid arguments and a failed read as the failures of the guard', async () => {
    const client = await open({
      config: { policy: { maxRetries: 0 } },
      onCall: (_call, fake) => fake.crash(),
    });
    const lost = await client.callTool({ name: 'add', arguments: { title: 'a' } });
    expect(lost).toMatchObject({
      isError: true,
      _meta: { 'io.modelcontextprotocol/toolFailure': { code: 'outcome_unknown' } },
    });
    expect(lost).not.toHaveProperty('structuredContent');
    expect(envelopeOf(lost)).toMatchObject({
      success: false,
      error: { code: 'outcome_unknown', operation_id: expect.stringMatching(/^op_/) as string },
    });
    const invalid = await client.callTool({ name: 'add', arguments: {} });
    expect(envelopeOf(invalid)).toMatchObject({ error: { code: 'validation_error' } });
    const failed = await client.callTool({ name: 'get', arguments: {} });
    expect(envelopeOf(failed)).toMatchObject({ error: { code: 'upstream_unavailable' } });
  });

  it('shows that a write was executed whose answer was lost, also to a repeat', async () => {
    const reconcile = { tool: 'find', arguments: {}, match: { title: '{title}' } };
    const client = await open({
      config: { tools: { add: { reconcile, key: 'title:{title}' } } },
      onCall: ({ name }, fake) =>
        name === 'add' ? fake.crash() : text(JSON.stringify([{ id: 7, title: 'a' }])),
    });
    for (const _ of [1, 2]) {
      const result = await client.callTool({ name: 'add', arguments: { title: 'a' } });
      expect(result).toMatchObject({ isError: true });
      expect(envelopeOf(result)).toMatchObject({
        error: {
          outcome: 'executed',
          retryable: false,
          message: expect.stringContaining('find returned: {"id":7,"title":"a"}') as string,
        },
      });
    }
    expect(rig.upstream.calls.filter(({ name }) => name === 'add')).toHaveLength(1);
  });
});
