import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, newFolder } from './support/chaos.js';
import { endEverything, everythingCommand, everythingUrl } from './support/everything.js';
import { guardProgram, listenGuard } from './support/guarded.js';

afterAll(() => {
  endEverything();
  cleanUp();
});

const info = { name: 'test', version: '1' };
const modernServer = fileURLToPath(new URL('support/modern-server.mjs', import.meta.url));
/** The generations have the same shape at run time, but incompatible types. */
const cast = (value: unknown) => value as never;

/** A schema that accepts any result. */
const anything = {
  parse: (value: unknown) => value,
  safeParse: (data: unknown) => ({ success: true, data }),
};

type Generation = '1.x' | '2.x legacy' | '2.x pinned to 2026-07-28';

/** Connects a real client to a guard in front of a server. */
const connect = async (face: string, generation: Generation, upstream: object) => {
  const mode = generation === '2.x legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client: ClientV2 =
    generation === '1.x'
      ? cast(new ClientV1(info))
      : new ClientV2(info, cast({ versionNegotiation: { mode } }));
  let stop = (): Promise<unknown> => Promise.resolve();
  if (face === 'HTTP') {
    const listening = await listenGuard({ upstream: upstream as never });
    stop = listening.stop;
    const url = new URL(listening.url);
    await client.connect(cast(generation === '1.x' ? new HttpV1(url) : new HttpV2(url)));
  } else {
    const { command, env, cwd } = guardProgram({ upstream: upstream as never });
    const [file, ...args] = command;
    const options = { command: file, args, env, cwd, stderr: 'ignore' as const };
    await client.connect(
      cast(generation === '1.x' ? new StdioV1(cast(options)) : new StdioV2(cast(options))),
    );
  }
  const close = async (): Promise<void> => {
    await client.close();
    await stop();
  };
  return { client, close };
};

const call = (client: ClientV2, name: string, args: object): Promise<unknown> =>
  client.callTool({ name, arguments: args as Record<string, unknown> });

describe.each([
  { face: 'stdio', generation: '1.x' },
  { face: 'stdio', generation: '2.x legacy' },
  { face: 'HTTP', generation: '1.x' },
] as const)('a $generation client on $face and a server of 2026-07-28 only', (given) => {
  it('share tools, resources and prompts; what cannot be bridged is refused', async () => {
    const log = join(newFolder(), 'added');
    const upstream = { command: process.execPath, args: [modernServer, log] };
    const { client, close } = await connect(given.face, given.generation, upstream);
    expect(client.getServerVersion()).toMatchObject({ name: 'modern' });
    expect(client.getInstructions()).toBe('Be modern.');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['double', 'add', 'ask']);
    const doubled = await call(client, 'double', { n: 4 });
    expect(doubled).toMatchObject({ content: [{ text: '8' }] });
    expect(doubled).not.toHaveProperty('resultType');
    expect(await call(client, 'add', { n: 7 })).toMatchObject({ content: [{ text: 'added 7' }] });
    expect(readFileSync(log, 'utf8')).toBe('7\n');
    expect(await client.readResource({ uri: 'note://1' })).toMatchObject({
      contents: [{ text: 'a note' }],
    });
    const prompt = { name: 'greet', arguments: { name: 'Ada' } };
    expect(await client.getPrompt(prompt)).toMatchObject({
      messages: [{ content: { text: 'Hello Ada' } }],
    });
    expect(await client.ping()).toEqual({});
    const refusal = { data: { code: 'unsupported_by_upstream', retryable: false } };
    await expect(call(client, 'ask', {})).rejects.toMatchObject({ code: -32_021, ...refusal });
    const subscribe = { method: 'resources/subscribe', params: { uri: 'note://1' } } as const;
    await expect(
      (client as unknown as ClientV1).request(subscribe, cast(anything)),
    ).rejects.toMatchObject(refusal);
    await close();
  });
});

describe.each([
  { face: 'stdio', upstream: 'stdio' },
  { face: 'HTTP', upstream: 'stdio' },
  { face: 'stdio', upstream: 'HTTP' },
])('a client pinned to 2026-07-28 on $face and a server of 2025-11-25 on $upstream', (given) => {
  it('share tools, resources and prompts if the configuration says so', async () => {
    const [command, ...args] = everythingCommand;
    const server = given.upstream === 'HTTP' ? { url: await everythingUrl() } : { command, args };
    const pinned = '2.x pinned to 2026-07-28';
    const { client, close } = await connect(given.face, pinned, { ...server, bridge: 'all' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    expect(await call(client, 'echo', { message: 'hi' })).toMatchObject({
      content: [{ text: 'Echo: hi' }],
    });
    expect(await call(client, 'get-sum', { a: 1, b: 2 })).toMatchObject({ content: [{}] });
    const { resources } = await client.listResources();
    const [{ uri } = { uri: '' }] = resources;
    expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri }] });
    expect(await client.getPrompt({ name: 'simple-prompt' })).toHaveProperty('messages');
    const progress: unknown[] = [];
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 1.5, steps: 3 } },
      { onprogress: (one) => progress.push(one) },
    );
    // The client drops what arrives together with the result, so the first step precedes it by a second.
    expect(progress[0]).toMatchObject({ progress: 1, total: 3 });
    await close();
  });
});

it('a client pinned to 2026-07-28 and a server of 2025-11-25 are not bridged by default', async () => {
  const [command, ...args] = everythingCommand;
  const connecting = connect('stdio', '2.x pinned to 2026-07-28', { command, args });
  await expect(connecting).rejects.toMatchObject({ code: 'ERA_NEGOTIATION_FAILED' });
});
