import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { envelopeSchema } from '@toolkeel/contract';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, newChaos, newFolder } from './support/chaos.js';
import { everythingCommand } from './support/everything.js';
import { revisions, type Frame } from './support/frames.js';
import { guardProgram, listenGuard, openGuard } from './support/guarded.js';
import { rawHttp, rawStdio } from './support/raw-client.js';

afterAll(cleanUp);

const require = createRequire(import.meta.url);
const filesystem = join(
  dirname(require.resolve('@modelcontextprotocol/server-filesystem/package.json')),
  'dist/index.js',
);
const [command, ...args] = everythingCommand;
const info = { name: 'test', version: '1' };

interface SdkClient {
  readonly listTools: () => Promise<{ tools: { name: string; outputSchema?: unknown }[] }>;
  readonly callTool: (call: { name: string; arguments: object }) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const connect = async (version: string, upstream: object): Promise<SdkClient> => {
  const program = guardProgram({ upstream: { ...upstream }, flags: ['--envelope'] });
  const [file, ...given] = program.command;
  const { env, cwd } = program;
  const server = { command: file, args: given, env: { ...env }, cwd, stderr: 'ignore' } as const;
  if (version === '1') {
    const client = new ClientV1(info);
    await client.connect(new StdioV1(server));
    return client as unknown as SdkClient;
  }
  const client = new ClientV2(info);
  await client.connect(new StdioV2(server));
  return client as unknown as SdkClient;
};

describe.each(['1', '2'])('--envelope with the SDK client of version %s', (version) => {
  it('is accepted for every success and failure of server-everything', async () => {
    const client = await connect(version, { command, args });
    const { tools } = await client.listTools();
    expect(tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true);
    const call = async (name: string, given: object) => {
      const result = (await client.callTool({ name, arguments: given })) as Frame['result'];
      const envelope = envelopeSchema.parse(result?.structuredContent);
      expect(result?.content?.[0]?.text).toBe(JSON.stringify(result?.structuredContent));
      return { ...envelope, types: result?.content?.map(({ type }) => type) };
    };
    expect(await call('echo', { message: 'hi' })).toMatchObject({
      success: true,
      data: { content: [{ type: 'text', text: 'Echo: hi' }] },
    });
    expect(await call('get-structured-content', { location: 'Chicago' })).toMatchObject({
      success: true,
      data: { conditions: expect.any(String) as string },
    });
    expect(await call('get-tiny-image', {})).toMatchObject({
      success: true,
      types: expect.arrayContaining(['text', 'image']) as string[],
    });
    expect(await call('echo', { message: 5 })).toMatchObject({
      success: false,
      error: { code: 'validation_error' },
    });
    const toggled = await call('toggle-simulated-logging', {});
    expect('error' in toggled ? toggled.error : undefined).toBeUndefined();
    await client.close();
  });

  it('is accepted for a server that misbehaves', async () => {
    const chaos = newChaos();
    const [file, ...flags] = chaos.command();
    const policy = { initialBackoffMs: 5, idleTimeoutMs: 2000 };
    const client = await connect(version, { command: file, args: flags, policy });
    await client.listTools();
    for (const tool of ['read', 'write']) {
      for (const fault of ['none', 'is_error', 'rpc_error', 'rate_limited', 'crash', 'leak']) {
        const given = { key: `${tool}-${fault}`, fault, times: 9, ms: 1 };
        const result = (await client.callTool({ name: tool, arguments: given })) as Frame['result'];
        const envelope = envelopeSchema.parse(result?.structuredContent);
        expect([tool, fault, envelope.success]).toEqual([tool, fault, fault === 'none']);
      }
    }
    await client.close();
  });

  it('is accepted for errors of server-filesystem', async () => {
    const dir = newFolder();
    const client = await connect(version, { command, args: [filesystem, dir] });
    await client.listTools();
    const missing = { path: join(dir, 'missing.txt') };
    expect(await client.callTool({ name: 'read_text_file', arguments: missing })).toMatchObject({
      isError: true,
      structuredContent: {
        error: { code: 'upstream_rejected', message: expect.stringContaining('ENOENT') as string },
      },
    });
    const edits = [{ oldText: 'a', newText: 'b' }];
    expect(
      await client.callTool({ name: 'edit_file', arguments: { ...missing, edits } }),
    ).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'upstream_rejected', outcome: 'unknown' } },
    });
    await client.close();
  });
});

interface Body {
  readonly content?: readonly { readonly text?: string; readonly uri?: string }[];
  readonly contents?: readonly { readonly text: string; readonly uri: string }[];
}

const bodyOf = ({ result }: Frame) => result as Body;

describe('maxResultBytes', () => {
  it.each(['stdio', 'HTTP'])(
    'cuts a file of server-filesystem for a client on %s',
    async (face) => {
      const dir = newFolder();
      const path = join(dir, 'a.txt');
      const text = Array.from({ length: 2000 }, (_, line) => `line ${line}`).join('\n');
      writeFileSync(path, text);
      const upstream = { command, args: [filesystem, dir], maxResultBytes: 4096 };
      const guard = face === 'HTTP' ? await listenGuard({ upstream }) : undefined;
      const client = guard
        ? await rawHttp(guard.url, '2025-11-25')
        : await rawStdio(guardProgram({ upstream }), '2025-11-25');
      const { content = [] } = bodyOf(await client.call('read_text_file', { path }));
      let all = content[0]?.text ?? '';
      for (let uri = content[2]?.uri; uri !== undefined;) {
        const { contents = [] } = bodyOf(await client.request('resources/read', { uri }));
        all += contents[0]?.text ?? '';
        uri = contents[1]?.uri;
      }
      expect(all).toBe(text);
      expect(client.inbox.problems).toEqual([]);
      await client.close();
      await guard?.stop();
    },
  );

  it.each(revisions)('cuts for clients of revision %s', async (revision) => {
    const chaos = newChaos();
    const settings = { maxResultBytes: 1000 };
    const options = { chaos, revision, face: 'HTTP', upstream: 'stdio', settings } as const;
    const guard = await openGuard(options);
    const given = { key: 'a', fault: 'oversized', bytes: 5000 };
    const { content = [] } = bodyOf(await guard.call('read', given));
    const uri = content[2]?.uri ?? '';
    const { result } = await guard.request('resources/read', { uri });
    expect(result).toMatchObject({ contents: [{ uri, text: 'x'.repeat(1000) }, {}] });
    expect(result?.['resultType']).toBe(revision === '2026-07-28' ? 'complete' : undefined);
    await guard.close();
  });
});
