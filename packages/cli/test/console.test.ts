import { describe, expect, it } from 'vitest';
import { overHttp } from './support/client.js';
import { useShop } from './support/shop.js';

const { shop, configure, serve, up, command, process: start } = useShop();

type Json = Record<string, unknown>;

/** Signs in like a browser, with the code of a link. */
async function signIn(link: string) {
  const { origin, hash } = new URL(link);
  const response = await fetch(`${origin}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ code: hash.replace('#login=', '') }),
  });
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? '';
  const request = async (path: string, body?: object): Promise<Json> => {
    const sent = await fetch(`${origin}/api${path}`, {
      headers: { cookie, origin, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    return (await sent.json()) as Json;
  };
  return { status: response.status, request };
}

const linkIn = (text: string): string => /http:\S+#login=\S+/.exec(text)?.[0] ?? '';

interface Shown {
  readonly state: string;
  readonly transport: string;
  readonly kind: string;
  readonly name: string;
  readonly pid: number;
}

describe('toolkeel console', () => {
  it('prints a link to the running server, which signs in once and shows servers on stdio', async () => {
    configure({ profile: 'workflow', mode: 'autopilot', template: 'open' });
    expect(await command('console')).toMatchObject({ code: 1 });
    const server = await up();
    const { code, out } = await command('console', '--name', 'ana');
    expect(code).toBe(0);
    const link = linkIn(out);
    expect(link).toMatch(new RegExp(`^${server.url}/#login=`));
    const ana = await signIn(link);
    expect(await ana.request('/session')).toMatchObject({ name: 'ana' });
    expect((await signIn(link)).status).toBe(401);

    const agent = await serve();
    await agent.call('shop_order', { item: 'tea' });
    const processes = async (): Promise<readonly Shown[]> =>
      (await ana.request('/processes'))['processes'] as readonly Shown[];
    await expect
      .poll(async () =>
        (await processes()).map(({ transport, state }) => `${transport} ${state}`).toSorted(),
      )
      .toEqual(['http live', 'stdio live']);
    await expect
      .poll(async () => (await ana.request('/calls'))['calls'])
      .toMatchObject([{ tool: 'shop_order', code: 'ok', outcome: 'executed' }]);
    const stdio = (await processes()).find(({ transport }) => transport === 'stdio');
    process.kill(stdio?.pid ?? 0, 'SIGKILL');
    await expect
      .poll(
        async () =>
          ((await ana.request('/now'))['statements'] as { kind: string }[]).map(({ kind }) => kind),
        { timeout: 60_000 },
      )
      .toContain('process_lost');
    expect(shop().effects).toEqual(['order tea']);
  });

  it('refuses an address that is none, and one without a server', async () => {
    configure({ profile: 'workflow' });
    await up();
    expect(await command('console', '--url', 'nonsense')).toMatchObject({ code: 2 });
    expect(await command('console', '--url', 'http://127.0.0.1:9')).toMatchObject({ code: 1 });
  });

  it('of a server that only reads shows it before its first call', async () => {
    configure({ profile: 'readonly' });
    const server = await up();
    await serve();
    const { out } = await command('console', '--url', server.url);
    const ana = await signIn(linkIn(out));
    await expect
      .poll(async () => (await ana.request('/processes'))['processes'], { timeout: 60_000 })
      .toMatchObject([{ transport: 'stdio', profile: 'readonly' }, { transport: 'http' }]);
  });
});

describe('a guarded server', () => {
  it('is shown, and serves the console itself over HTTP', async () => {
    configure({});
    const guard = start(['guard', '--http', '127.0.0.1:0', '--', process.execPath, '-e', ECHO]);
    await guard.waitForOutput(/MCP at/);
    const [, url = ''] = /MCP at (http:\S+)\/mcp/.exec(guard.out()) ?? [];
    const client = await overHttp(`${url}/mcp`);
    await client.call('look', {}).catch(() => undefined);
    const { out } = await command('console', '--url', url);
    const ana = await signIn(linkIn(out));
    expect(await ana.request('/session')).toMatchObject({ by: 'link' });
    await expect
      .poll(async () => (await ana.request('/processes'))['processes'])
      .toMatchObject([
        { kind: 'guard', transport: 'http', packs: [{ tools: [{ name: 'look' }] }] },
      ]);
    await expect
      .poll(async () => (await ana.request('/calls'))['calls'])
      .toMatchObject([{ tool: 'look' }]);
    expect(await ana.request('/tools')).toMatchObject({
      tools: [{ name: 'look', can_try: false }],
    });
    await client.close();
  });
});

/** A small MCP server on stdio with one read tool. */
const ECHO = `
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
const tool = { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } });
  } else if (method === 'tools/list') answer(id, { tools: [tool] });
  else if (method === 'tools/call') answer(id, { content: [{ type: 'text', text: 'seen' }] });
  else if (id !== undefined) answer(id, {});
});
`;
