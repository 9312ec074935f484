import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, it } from 'vitest';
import { useTempDir } from '../src/runtime.fixture.js';
import { bareEnvironment, bin, endAll, finished, toolkeel } from './support/process.js';

const require = createRequire(import.meta.url);
const everything = join(
  dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
);
const dir = useTempDir();
const place = () => ({ cwd: dir(), env: {} });
const configure = (config: object): void =>
  writeFileSync(join(dir(), 'toolkeel.config.json'), JSON.stringify(config));

afterEach(endAll);

describe('toolkeel guard', () => {
  it('guards the server of a command for a client on stdio', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [bin, 'guard', '--', process.execPath, everything, 'stdio'],
      env: bareEnvironment(place()),
      cwd: dir(),
      stderr: 'ignore',
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    const result = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(result.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
    await client.close();
  });

  it('serves over HTTP the server that the configuration names', async () => {
    configure({ upstreams: { demo: { command: process.execPath, args: [everything, 'stdio'] } } });
    const run = toolkeel(['guard', '--http', '127.0.0.1:0'], place());
    const [, url = ''] = await run.waitForOutput(/MCP at (\S+)/);
    const response = await fetch(url.replace('/mcp', '/metrics'));
    expect(response.status).toBe(200);
    run.kill('SIGTERM');
    expect(await run.ended).toEqual({ code: 0, signal: null });
  });

  it('guards the servers of a client by init --from, with the headers of one on HTTP', async () => {
    const file = join(dir(), 'mcp.json');
    const read = (): { mcpServers: Record<string, Launch> } =>
      JSON.parse(readFileSync(file, 'utf8')) as never;
    const upstream = await headerServer();
    const servers = {
      local: { command: process.execPath, args: [everything, 'stdio'], env: { GIVEN: 'kept' } },
      web: { url: upstream.url, headers: { 'X-Key': 'secret-key' } },
    };
    writeFileSync(file, JSON.stringify({ mcpServers: servers }, null, 2));
    expect(await finished(['init', '--from', file, '--yes'], place())).toMatchObject({ code: 0 });
    const { local, web } = read().mcpServers;
    const result = await callThrough(local!, 'get-env', {});
    expect(JSON.stringify(result.content)).toContain('kept');
    await callThrough(web!, 'list', {}).catch(() => undefined);
    expect(upstream.keys).toContain('secret-key');
    upstream.close();
    expect(await finished(['init', '--from', file, '--undo', '--yes'], place())).toMatchObject({
      code: 0,
    });
    expect(read().mcpServers).toEqual(servers);
  });

  it("guards all servers of a client's file as it is, under prefixes", async () => {
    const demo = { command: process.execPath, args: [everything, 'stdio'] };
    const servers = { one: { ...demo, autoApprove: ['echo'] }, two: demo };
    writeFileSync(join(dir(), 'mcp.json'), `// mine\n${JSON.stringify({ mcpServers: servers })}`);
    const args = [bin, 'guard', '--upstreams', 'mcp.json'];
    const result = await callThrough({ command: process.execPath, args }, 'two_echo', {
      message: 'hi',
    });
    expect(result.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
  });

  it.each([
    ['toolkeel.config.json', 'upstreams', ['guard']],
    ['mcp.json', 'mcpServers', ['guard', '--upstreams', 'mcp.json']],
  ] as const)('accepts entries of clients as they are in %s', async (file, section, args) => {
    const used = {
      type: 'stdio',
      command: process.execPath,
      args: [everything, 'stdio'],
      envFile: 'server.env',
      autoApprove: ['echo'],
      timeout: 60,
      disabled: false,
    };
    const off = { command: 'none', env: { API_KEY: { env: 'NOT_SET' } }, disabled: true };
    writeFileSync(join(dir(), file), JSON.stringify({ [section]: { used, off } }));
    const refused = await finished([...args], place());
    expect(refused.code).not.toBe(0);
    expect(refused.err).toMatch(/used\b.*server\.env .*(there is no such file|does not exist)/);

    writeFileSync(join(dir(), 'server.env'), '# of the server\nFROM_FILE="value-of-the-file"\n');
    const launch = { command: process.execPath, args: [bin, ...args] };
    const logged: string[] = [];
    const { content } = await callThrough(launch, 'get-env', {}, logged);
    expect(JSON.stringify(content)).toContain('FROM_FILE');
    expect(JSON.stringify(content)).not.toContain('value-of-the-file');
    expect(logged.join('')).toMatch(/disabled/);
    expect(logged.join('')).toContain('they are ignored: autoApprove, timeout.');
  });

  it('refuses settings that it does not know, and a server that is disabled', async () => {
    const entry = { command: 'x', trsut: 'all' };
    configure({ upstreams: { demo: entry } });
    expect((await finished(['guard'], place())).err).toMatch(/trsut.*Did you mean "trust"/);
    configure({ upstreams: { demo: { command: 'x', disabled: true } } });
    expect((await finished(['guard'], place())).err).toContain('"disabled" is set for demo');
  });

  it('refuses a header that names no variable', async () => {
    const url = ['--url', 'http://127.0.0.1:9/mcp'];
    expect(await finished(['guard', ...url, '--header-env', 'a: b'], place())).toMatchObject({
      code: 2,
      err: expect.stringContaining('HEADER=VARIABLE') as string,
    });
    expect(await finished(['guard', '--header-env', 'a=B', '--', 'x'], place())).toMatchObject({
      code: 2,
      err: expect.stringContaining('--header-env needs --url') as string,
    });
  });

  it('prints what the listings of the configured servers cost, before and after', async () => {
    const demo = { command: process.execPath, args: [everything, 'stdio'] };
    const diet = { include: ['echo', 'get-*'], exclude: ['get-env'], dropOutputSchemas: true };
    configure({ upstreams: { all: demo, few: { ...demo, ...diet } } });
    const { code, out } = await finished(['guard', '--tokens'], place());
    expect(code).toBe(0);
    expect(out).toMatch(/^UPSTREAM +LISTING +TOOLS +TOKENS/);
    const json = await finished(['guard', '--tokens', '--json'], place());
    const [all, few] = JSON.parse(json.out) as { before: Cost; after: Cost }[];
    // The prefixes of several servers are part of the cost.
    expect(all?.after).toMatchObject({ most_expensive: { tool: expect.stringMatching(/^all_/) } });
    expect(all?.after.total).toBeGreaterThan(all?.before.total ?? 0);
    expect(few?.before).toEqual(all?.before);
    expect(few?.after.tools).toBeLessThan(few?.before.tools ?? 0);
    expect(few?.after.total).toBeLessThan((few?.before.total ?? 0) / 2);
    expect(few?.after.visible).toBeGreaterThan(0);
    const one = await finished(['guard', '--tokens', '--upstream', 'few', '--json'], place());
    const [alone] = JSON.parse(one.out) as { before: Cost; after: Cost }[];
    expect(alone?.before).toEqual(few?.before);
    expect(alone?.after.tools).toBe(few?.after.tools);
    expect(alone?.after.total).toBeLessThan(few?.after.total ?? 0);
  });

  it('refuses a rate of faults that is none', async () => {
    for (const flags of [['--chaos', '2'], ['--chaos', 'x'], ['--chaos', ''], ['--chaos-all']]) {
      expect(await finished(['guard', ...flags, '--', 'x'], place())).toMatchObject({
        code: 2,
        err: expect.stringContaining('--chaos') as string,
      });
    }
  });

  it('says what is missing', async () => {
    expect(await finished(['guard'], place())).toMatchObject({
      code: 2,
      err: expect.stringContaining('No server to guard (none is configured)') as string,
    });
    configure({ upstreams: { demo: { comand: 'x' } } });
    expect(await finished(['guard'], place())).toMatchObject({
      code: 2,
      err: expect.stringMatching(/upstreams.*comand/s) as string,
    });
  });

  it('is listed by the doctor, with effects, evidence and what is retried', async () => {
    const demo = { command: process.execPath, args: [everything, 'stdio'] };
    const when = [
      { arguments: { a: [1, 2], 'b[*].c': { exists: true } }, effect: 'once' },
      { arguments: { b: { exists: false } }, effect: 'idempotent' },
    ];
    const tools = { echo: { effect: 'once' }, 'get-sum': { when } };
    configure({ upstreams: { demo, own: { ...demo, tools, profile: false } } });
    const dataDir = join(dir(), 'data');
    const { out, code } = await finished(['doctor'], {
      ...place(),
      env: { TOOLKEEL_DATA_DIR: dataDir },
    });
    expect(existsSync(join(dataDir, 'journal.db'))).toBe(false);
    expect(out).toMatch(
      /upstream demo +mcp-servers\/everything 2\.\S+, 13 tools: .*once \(never repeated\)/,
    );
    expect(out).toMatch(/demo_echo +read \(retried\): readOnlyHint/);
    expect(out).toMatch(/demo_toggle-simulated-logging +once \(never repeated\): profile: /);
    expect(out).toMatch(/own_echo +once \(never repeated\): configured/);
    expect(out).toMatch(
      /own_get-sum +read .*, once if a=1\|2 and b\[\*\]\.c is given \(never repeated\), idempotent if b is missing/,
    );
    expect(code).toBe(0);
  });

  it('cannot control the terminal of the doctor', async () => {
    const script = `
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        const serverInfo = { name: 'demo\\u001b[31m', version: '1\\n2' };
        const tools = [{ name: 'get\\u001b[2K', inputSchema: { type: 'object' } }];
        const result = method === 'tools/list' ? { tools } : { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
        if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      });`;
    configure({ upstreams: { demo: { command: process.execPath, args: ['-e', script] } } });
    const { out, code } = await finished(['doctor'], place());
    expect(out).toMatch(/upstream demo +demo\\u001b\[31m 1 2, 1 tools/);
    expect(out).toMatch(/get\\u001b\[2K +once/);
    expect(out).not.toContain('\u001b');
    expect(code).toBe(0);
  });

  it('is refused by the doctor if two servers have the same names', async () => {
    const demo = { command: process.execPath, args: [everything, 'stdio'], prefix: '' };
    configure({ upstreams: { a: demo, b: demo } });
    const { out, code } = await finished(['doctor'], place());
    expect(out).toMatch(/FAIL +tool echo +is in a and b, so neither is available/);
    expect(code).toBe(1);
  });
});

interface Cost {
  readonly tools: number;
  readonly total: number;
  readonly visible: number;
}

interface Launch {
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
}

/** Starts a server as a client would, and calls one of its tools. */
async function callThrough(
  { command, args, env }: Launch,
  name: string,
  given: object,
  logged: string[] = [],
) {
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...bareEnvironment(place()), ...env },
    cwd: dir(),
    stderr: 'pipe',
  });
  transport.stderr?.on('data', (text: Buffer) => logged.push(text.toString()));
  const client = new Client({ name: 'test', version: '1' });
  try {
    await client.connect(transport);
    return await client.callTool({ name, arguments: { ...given } });
  } finally {
    await client.close();
  }
}

/** An upstream that only records the header of each request. */
async function headerServer() {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers['x-key']);
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, keys, close: () => server.close() };
}
