import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { writeFileSync } from 'node:fs';
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

  it('is listed with its effects by the doctor', async () => {
    configure({ upstreams: { demo: { command: process.execPath, args: [everything, 'stdio'] } } });
    const { out } = await finished(['doctor'], place());
    expect(out).toMatch(/upstream demo: read +echo \(readOnlyHint\)/);
    expect(out).toMatch(/upstream demo: once .*toggle-simulated-logging \(no readOnlyHint\)/);
  });
});
