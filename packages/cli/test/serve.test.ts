import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startStacSandbox } from '@toolkeel/sandbox';
import { afterEach, describe, expect, it } from 'vitest';
import { useTempDir } from '../src/runtime.fixture.js';
import { overHttp, overStdio } from './support/client.js';
import { bareEnvironment, bin, endAll, finished, toolkeel } from './support/process.js';

const dir = useTempDir();
const place = (env: Record<string, string> = {}) => ({ cwd: dir(), env });
const configure = (config: object): void =>
  writeFileSync(join(dir(), 'toolkeel.config.json'), JSON.stringify(config));

afterEach(endAll);

describe('toolkeel serve', () => {
  it('serves the tools of a pack on stdio with the upstream of the environment', async () => {
    const upstream = await startStacSandbox({ scale: 0.1 });
    const client = await overStdio(['stac'], place({ TOOLKEEL_STAC_URL: upstream.url }));
    expect(await client.tools()).toHaveLength(13);
    expect(await client.call('get_root')).toMatchObject({
      success: true,
      data: { catalog: 'default' },
    });
    expect(upstream.counts()).toMatchObject({ requests: 1 });
    await client.close();
    await upstream.close();
  });

  it('exits with 0 when the client disconnects, and writes nothing to stdout', async () => {
    expect(await finished(['serve', 'stac'], place())).toMatchObject({ code: 0, out: '', err: '' });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('exits with 0 at %s', async (signal) => {
    const run = toolkeel(['serve', 'stac', '--http', '127.0.0.1:0'], place());
    await run.waitForOutput(/MCP at/);
    run.kill(signal);
    expect(await run.ended).toEqual({ code: 0, signal: null });
  });

  it('completes a running call at SIGTERM', async () => {
    const upstream = await startStacSandbox({ scale: 0.1, latency: { fixedMs: 800 } });
    const client = await overStdio(['stac'], place({ TOOLKEEL_STAC_URL: upstream.url }));
    const running = client.call('get_root');
    await expect.poll(() => upstream.log().length, { timeout: 30_000 }).toBe(1);
    process.kill(client.pid ?? 0, 'SIGTERM');
    expect(await running).toMatchObject({ success: true });
    await client.close();
    await upstream.close();
  });

  it('exits at SIGTERM although the client does not read its responses', async () => {
    const child = spawn(process.execPath, [bin, 'serve', 'stac'], {
      cwd: dir(),
      env: bareEnvironment(place()),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const exited = once(child, 'exit');
    for (let id = 0; id < 40; id++) {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' })}\n`);
    }
    // Exceeds the pipe's buffer: the reading stream takes only what its own buffer holds.
    await once(child.stdout, 'readable');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  it('serves over HTTP, and treats a pack name after --http as a pack', async () => {
    const run = toolkeel(['serve', '--http', 'stac', '--config', 'c.json'], place());
    expect(await run.ended).toMatchObject({ code: 2 });
    expect(run.err()).toMatch(/c\.json: there is no such file/);
    writeFileSync(join(dir(), 'c.json'), '{"http":{"port":0}}');
    const again = toolkeel(['serve', '--http', 'stac', '--config', 'c.json'], place());
    const [, url = ''] = await again.waitForOutput(/MCP at (\S+)/);
    const client = await overHttp(url);
    expect(await client.tools()).toContain('search_items');
    await client.close();
  });

  it('keeps page tokens for the time after a restart', async () => {
    const upstream = await startStacSandbox({ scale: 0.1 });
    const env = { TOOLKEEL_STAC_URL: upstream.url, TOOLKEEL_DATA_DIR: join(dir(), 'data') };
    const args = { limit: 1 };
    const first = await overStdio(['stac'], place(env));
    const page = await first.call('search_items', args);
    const token = page.meta.pagination?.next_token;
    await first.close();
    const second = await overStdio(['stac'], place(env));
    const next = await second.call('search_items', { ...args, page_token: token });
    await second.close();
    await upstream.close();
    expect(next).toMatchObject({ success: true });
    expect(next.data).not.toEqual(page.data);
  });
});

it('exits with 2 for an unknown pack, and writes nothing to stdout', async () => {
  const { code, out, err } = await finished(['serve', 'stak'], place());
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toBe(
    'toolkeel: Unknown pack "stak". Did you mean "stac"? Packs: stac, x, github, llm.\n',
  );
});

it('serves every pack without a configuration, and reports missing credentials at once', async () => {
  const client = await overStdio([], place());
  expect(await client.tools()).toEqual(expect.arrayContaining(['search_items', 'x_get_me']));
  expect(await client.call('x_get_me')).toMatchObject({ error: { code: 'x_not_configured' } });
  expect(await client.call('get_capabilities')).toMatchObject({ data: { logged_in: false } });
  await client.close();
});

describe('--sandbox', () => {
  const secret = 'real-credential-of-a-user';
  let real: Server;
  let requests: string[];

  const realUpstream = async (): Promise<string> => {
    requests = [];
    real = createServer((request, response) => {
      requests.push(request.url ?? '');
      response.end('{}');
    });
    await new Promise<void>((resolve) => real.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(real.address() as AddressInfo).port}`;
  };

  it('never contacts configured upstreams, and uses no credential', async () => {
    const url = await realUpstream();
    configure({
      packs: {
        stac: {
          catalogs: {
            ours: { url, headers: { Authorization: { env: 'OUR_TOKEN' } } },
            // A missing credential is irrelevant, because none is used.
            theirs: { url, headers: { Authorization: { env: 'NOT_SET' } } },
          },
          defaultCatalog: 'ours',
        },
        x: { baseUrl: url, accessToken: { env: 'OUR_TOKEN' }, tokenFile: 'not-there.json' },
      },
      upstreams: { other: { url } },
      journal: { url: { env: 'NOT_SET' } },
    });
    const env = {
      TOOLKEEL_STAC_URL: url,
      TOOLKEEL_X_BASE_URL: url,
      TOOLKEEL_X_BEARER_TOKEN: secret,
      OUR_TOKEN: secret,
      TOOLKEEL_LOG_LEVEL: 'debug',
    };
    const client = await overStdio(['--sandbox'], place(env));
    expect(await client.call('get_root')).toMatchObject({ data: { catalog: 'sandbox' } });
    expect(await client.call('search_federated', { limit: 1 })).toMatchObject({ success: true });
    const refusals = [{ catalog: 'ours' }, { catalog: 'default' }, { catalog: 'earth-search' }];
    for (const args of refusals) {
      expect(await client.call('get_root', args)).toMatchObject({
        error: { code: 'invalid_input' },
      });
    }
    for (const args of [{ catalog_url: url }, { catalog_url: 'https://stac.example.com' }]) {
      expect(await client.call('get_root', args)).toMatchObject({ error: { code: 'forbidden' } });
    }
    expect(await client.call('x_get_me')).toMatchObject({ success: true });
    const { data } = await client.call('get_config');
    expect(data['config']).toMatchObject({
      accessToken: '[set]',
      bearerToken: '[not set]',
      account: 'sandbox',
    });
    expect(data['config']).not.toHaveProperty('tokenFile');
    await client.close();
    real.close();
    expect(requests).toEqual([]);
    expect(client.stderr()).not.toContain(secret);
  });
});
