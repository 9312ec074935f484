import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineTool, type Pack } from '@toolkeel/contract';
import { ConfigError, createServer, HostError, type ServerOptions } from '@toolkeel/host';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { overHttp, overStdio } from './clients.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'toolkeel-own-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const order = defineTool({
  name: 'order',
  description: 'Orders.',
  effect: 'once',
  input: z.object({ item: z.string() }),
  handler: ({ item }) => ({ item }),
});
const listen = (options: Partial<ServerOptions> = {}, env: Record<string, string> = {}) =>
  createServer({
    name: 'own',
    tools: [order],
    cwd: dir,
    env: { TOOLKEEL_LOG_LEVEL: 'silent', TOOLKEEL_DATA_DIR: join(dir, 'data'), ...env },
    ...options,
  }).listen({ port: 0 });
const configure = (config: object): void =>
  writeFileSync(join(dir, 'toolkeel.config.json'), JSON.stringify(config));

describe('createServer', () => {
  it('serves MCP, health, metrics and the operator API, with a journal', async () => {
    const server = await listen({ settings: { profile: 'api' } });
    const client = await overHttp('2.x modern', server.url);
    const call = () => client.callTool({ name: 'order', arguments: { item: 'tea' } });
    expect(await call()).toMatchObject({ structuredContent: { data: { item: 'tea' } } });
    expect(await call()).toMatchObject({
      structuredContent: { meta: { idempotency: { replayed: true } } },
    });
    await client.close();
    expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({ alive: true });
    expect(await (await fetch(`${server.url}/metrics`)).text()).toContain(
      'toolkeel_tool_calls_total{tool_name="order",code="ok"} 2',
    );
    const token = readFileSync(join(dir, 'data', 'console.token'), 'utf8').trim();
    const api = (authorization: string) =>
      fetch(`${server.url}/api/operations`, { headers: { authorization } });
    expect((await api('Bearer other')).status).toBe(401);
    expect(await (await api(`Bearer ${token}`)).json()).toMatchObject({
      operations: [{ tool: 'order', state: 'succeeded' }],
    });
    await server.close();
    await server.closed;
    await expect(fetch(server.url)).rejects.toThrow();
  });

  it('registers no mutation and uses a directory of its own by default', async () => {
    const env = { TOOLKEEL_DATA_DIR: '', XDG_DATA_HOME: dir };
    const readonly = await listen({}, env);
    const client = await overHttp('2.x modern', readonly.url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('order');
    await client.close();
    await readonly.close();
    const server = await listen({ settings: { profile: 'api' } }, env);
    await server.close();
    if (process.platform === 'linux') {
      expect(existsSync(join(dir, 'toolkeel', 'own', 'journal.db'))).toBe(true);
    }
  });

  it('lets the file override its settings, and the environment the file', async () => {
    const listening = async (env: Record<string, string> = {}) => {
      const server = await listen({ settings: { profile: 'readonly' } }, env);
      const client = await overHttp('2.x modern', server.url);
      const { tools } = await client.listTools();
      await client.close();
      await server.close();
      return tools.some(({ name }) => name === 'order');
    };
    expect(await listening()).toBe(false);
    configure({ profile: 'api' });
    expect(await listening()).toBe(true);
    expect(await listening({ TOOLKEEL_PROFILE: 'readonly' })).toBe(false);
    configure({ profil: 'api' });
    await expect(listen()).rejects.toThrow(ConfigError);
    configure({});
    await expect(listen({ settings: { profil: 'api' } })).rejects.toThrow('the program: /profil: ');
    // The program requires approvals: a variable alone must not drop them.
    const settings = { profile: 'workflow' };
    await expect(listen({ settings }, { TOOLKEEL_PROFILE: 'api' })).rejects.toThrow(
      'requires fewer approvals',
    );
  });

  it('serves packs with their settings', async () => {
    const shop: Pack = {
      name: 'shop',
      configSchema: z.strictObject({ street: z.string() }),
      describe: () => [order],
      create: () =>
        Promise.resolve({
          tools: [order],
          health: () => Promise.resolve({ ok: true, detail: 'open' }),
          close: () => Promise.resolve(),
        }),
    };
    // The CLI loads the same file, which names the module.
    configure({ packs: { shop: { module: './shop.js', street: 'High Street' } } });
    const server = await listen({ tools: [], packs: [shop] });
    expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({
      packs: { shop: { ok: true } },
    });
    await server.close();
    configure({ packs: { shop: { stret: 'High Street' } } });
    await expect(listen({ tools: [], packs: [shop] })).rejects.toThrow(
      '/packs/shop/stret: is not a known setting. Did you mean "street"?',
    );
  });

  it('refuses a name that is no folder, a server without tools, and tools of its own making', async () => {
    for (const name of ['', '../x', 'a b', 'x'.repeat(65)]) {
      expect(() => createServer({ name, tools: [order] })).toThrow(HostError);
    }
    expect(() => createServer({ name: 'own' })).toThrow('own has no tools');
    const handmade = { ...order, mutation: false };
    await expect(listen({ tools: [handmade], settings: { profile: 'api' } })).rejects.toThrow(
      'the tool order was not created with defineTool',
    );
  });

  it('leaves no signal listener behind', async () => {
    const before = process.listenerCount('SIGTERM');
    const server = await listen();
    expect(process.listenerCount('SIGTERM')).toBe(before + 1);
    await server.close();
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });
});

describe('start', () => {
  const program = fileURLToPath(new URL('../dist/fixtures/own-server.fixture.js', import.meta.url));
  const start = (args: readonly string[], env: Record<string, string> = {}) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: dir,
      env: { PATH: process.env['PATH'], TOOLKEEL_DATA_DIR: join(dir, 'data'), ...env },
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const ended = once(child, 'close').then(([code, signal]: unknown[]) => ({ code, signal }));
    return { child, ended, out: () => out, err: () => err };
  };

  it('serves on stdio by default', async () => {
    const client = await overStdio('2.x modern', { TOOLKEEL_DATA_DIR: dir }, 'own-server');
    const result = await client.callTool({ name: 'wait', arguments: { ms: 0 } });
    expect(result).toMatchObject({ structuredContent: { data: { ms: 0 } } });
    await client.close();
  });

  it('serves over HTTP, and completes running calls at SIGTERM before it exits', async () => {
    const run = start(['--port', '0', '--profile', 'api']);
    await expect.poll(() => run.out()).toMatch(/^MCP at http:/);
    const [, url = ''] = /MCP at (\S+)\/mcp/.exec(run.out()) ?? [];
    const client = await overHttp('2.x modern', url);
    const call = client.callTool({ name: 'wait', arguments: { ms: 700 } });
    await expect.poll(() => run.err()).toContain('waiting');
    run.child.kill('SIGTERM');
    expect(await call).toMatchObject({ structuredContent: { data: { ms: 700 } } });
    expect(await run.ended).toEqual({ code: 0, signal: null });
    await client.close().catch(() => undefined);
  });

  it('ends although a tool has left a handle open', async () => {
    const run = start([], { OWN_HANDLE: '1' });
    run.child.stdin.end();
    expect(await run.ended).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it.each<[string[], object, number, RegExp]>([
    [['--help'], {}, 0, /--profile <name>/],
    [['--profil', 'api'], {}, 2, /^own: .*--profil.*--help lists the flags/],
    [['--port', 'x'], {}, 2, /^own: --http-port: /],
    [['--profile', 'apy'], {}, 2, /^own: --profile: .*Did you mean "api"/],
    [['--config', 'gone.json'], {}, 2, /gone\.json: there is no such file/],
    [['--host', '0.0.0.0'], {}, 1, /http\.token is required/],
    [['--profile', 'api'], { profile: 'workflow' }, 2, /requires fewer approvals/],
    [[], { journal: { url: 'sqlite:/dev/null/x.db' }, profile: 'api' }, 1, /^own: .*x\.db/m],
  ])('%j with %j exits with %i and a message', async (args, config, code, message) => {
    configure(config);
    const run = start(args);
    expect(await run.ended).toEqual({ code, signal: null });
    expect(run.out() + run.err()).toMatch(message);
    expect(run.err()).not.toMatch(/^\s+at /m);
  });
});
