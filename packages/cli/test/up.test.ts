import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { startStacSandbox } from '@toolkeel/sandbox';
import { afterEach, describe, expect, it } from 'vitest';
import { useTempDir } from '../src/runtime.fixture.js';
import { overHttp } from './support/client.js';
import { endAll, start, toolkeel } from './support/process.js';

const dir = useTempDir();
const place = (env: Record<string, string> = {}) => ({ cwd: dir(), env });

afterEach(endAll);

/** Starts the server, and returns its output and URL. */
const startUp = async (args: readonly string[], env: Record<string, string> = {}) => {
  const run = toolkeel(['up', '--port', '0', ...args], place(env));
  await run.waitForOutput(/Press Ctrl-C to stop/);
  const [, url = ''] = /MCP +(http:\S+)\/mcp/.exec(run.out()) ?? [];
  return { ...run, url };
};

/** Runs the printed command in a shell. */
const runPrinted = async (text: string, env: Record<string, string> = {}): Promise<string> => {
  const command = /^ {2}curl .*?\n\n/ms.exec(text)?.[0] ?? 'no command was printed';
  const shell = start('sh', ['-c', command], place(env));
  await shell.ended;
  return shell.out() + shell.err();
};

describe('toolkeel up --sandbox', () => {
  it('prints its addresses, and the printed call works', async () => {
    const up = await startUp(['--sandbox']);
    const answer = await runPrinted(up.out());
    const { result } = JSON.parse(answer) as {
      result: { structuredContent: { success: boolean; data: { items: unknown[] } } };
    };
    expect(result.structuredContent).toMatchObject({ success: true, data: { catalog: 'sandbox' } });
    expect(result.structuredContent.data.items).toHaveLength(2);

    expect(await (await fetch(`${up.url}/healthz`)).json()).toMatchObject({
      alive: true,
      ok: true,
    });
    expect(await (await fetch(`${up.url}/metrics`)).text()).toMatch(
      /toolkeel_tool_calls_total\{tool_name="search_items",code="ok"\} 1/,
    );
    const client = await overHttp(`${up.url}/mcp`);
    expect(await client.tools()).toHaveLength(59); // 13 of STAC, 24 reads of X, 19 of GitHub, 3 of LLM
    expect(await client.call('x_get_me')).toMatchObject({ success: true });
    await client.close();

    expect(up.out()).toContain(`claude mcp add --transport http toolkeel ${up.url}/mcp`);
    expect(up.out()).not.toContain('\u001B'); // no colours into a pipe
    up.kill('SIGINT');
    expect(await up.ended).toEqual({ code: 0, signal: null });
    const events = up.err().trim().split('\n');
    expect(events.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
      'listening',
      'tool_call',
      'tool_call',
      'stopped',
    ]);
  });

  it('formats its log for humans with --pretty', async () => {
    const up = await startUp(['--sandbox', '--pretty']);
    up.kill('SIGTERM');
    await up.ended;
    expect(up.err()).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}listening url=http/m);
  });

  it('prints a call that references the token without containing it', async () => {
    const env = { TOOLKEEL_HTTP_TOKEN: 'a-token-of-sufficient-length' };
    const up = await startUp(['--sandbox', '--host', '127.0.0.1'], env);
    expect(up.out() + up.err()).not.toContain(env.TOOLKEEL_HTTP_TOKEN);
    expect(await runPrinted(up.out())).toContain('A bearer token is needed');
    expect(await runPrinted(up.out(), env)).toMatch(/"success\\?":true/);
  });
});

it('prints reachable addresses when it listens on all interfaces', async () => {
  const env = { TOOLKEEL_HTTP_TOKEN: 'a-token-of-sufficient-length' };
  const up = await startUp(['--sandbox', '--host', '0.0.0.0'], env);
  expect(up.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(up.out()).not.toContain('0.0.0.0');
  expect(up.out()).toContain(`remote         http://${hostname()}:${new URL(up.url).port}/mcp`);
  expect(await runPrinted(up.out(), env)).toMatch(/"success\\?":true/);
});

it('terminates at a second signal despite running calls', async () => {
  const upstream = await startStacSandbox({ scale: 0.1, faults: [{ kind: 'stall', rate: 1 }] });
  const up = await startUp([], { TOOLKEEL_STAC_URL: upstream.url });
  const shell = runPrinted(up.out());
  await expect.poll(() => upstream.log().length, { timeout: 30_000 }).toBe(1);
  up.kill('SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 700));
  up.kill('SIGINT');
  expect(await up.ended).toEqual({ code: null, signal: 'SIGINT' });
  await shell;
  await upstream.close();
});

it('advises what to do about a port in use', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const run = toolkeel(['up', '--sandbox', '--port', String(port)], place());
  expect(await run.ended).toEqual({ code: 1, signal: null });
  expect(run.out()).toBe('');
  expect(run.err()).toMatch(new RegExp(`^toolkeel: cannot listen on 127\\.0\\.0\\.1:${port}`, 'm'));
  expect(run.err()).toMatch(/choose another port/);
  await new Promise((resolve) => other.close(resolve));
});

it('refuses a public address without a token', async () => {
  const run = toolkeel(['up', '--host', '0.0.0.0', '--port', '0'], place());
  expect(await run.ended).toEqual({ code: 1, signal: null });
  expect(run.err()).toMatch(/other machines can reach: http\.token is required/);
});

it('refuses a weak token on a public address', async () => {
  const run = toolkeel(
    ['up', '--host', '0.0.0.0', '--port', '0'],
    place({ TOOLKEEL_HTTP_TOKEN: 'x' }),
  );
  expect(await run.ended).toEqual({ code: 1, signal: null });
  expect(run.err()).toMatch(/at least 16 characters/);
});
