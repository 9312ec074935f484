import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { useTempDir } from '../src/runtime.fixture.js';
import { overStdio } from './support/client.js';
import { endAll, toolkeel } from './support/process.js';

const dir = useTempDir();

afterEach(endAll);

it('starts upstreams with injected faults, and prints their addresses', async () => {
  const faults = ['--fault', '100%:http-503@search', '--fault', '100%:http-418@item'];
  const run = toolkeel(['sandbox', 'stac', '--scale', '0.1', ...faults], { cwd: dir() });
  await run.waitForOutput(/Press Ctrl-C to stop/);
  const address = (what: string): string =>
    new RegExp(`^  ${what} +(\\S+)$`, 'm').exec(run.out())?.[1] ?? '';

  expect((await fetch(address('api'))).status).toBe(200);
  expect((await fetch(`${address('api')}/search`)).status).toBe(503);
  expect((await fetch(address('static'))).status).toBe(200);
  expect((await fetch(`${address('control')}/log`)).status).toBe(200);
  expect(run.out()).toContain(`TOOLKEEL_STAC_URL=${address('api')} toolkeel serve stac`);

  run.kill('SIGINT');
  expect(await run.ended).toEqual({ code: 0, signal: null });
});

it('starts several packs with shared and specific flags, and prints a command for each', async () => {
  const flags = ['--seed', '3', '--stac-scale', '0.1', '--x-tier', 'enterprise'];
  const fault = ['--x-fault', '100%:http-503@home'];
  const run = toolkeel(['sandbox', 'stac', 'x', ...flags, ...fault], { cwd: dir() });
  await run.waitForOutput(/Press Ctrl-C to stop/);
  const [, stac = '', x = ''] = run.out().split(/^(?:stac|x)$/m);
  const printed = / {2}(TOOLKEEL_X_BASE_URL=.*) toolkeel serve (.*)$/m.exec(x);
  const [, variables = '', args = ''] = printed ?? [];
  const env = Object.fromEntries(variables.split(' ').map((pair) => pair.split('=', 2)));
  expect(env).toMatchObject({ TOOLKEEL_X_TIER: 'enterprise' });
  const client = await overStdio(args.split(' '), { cwd: dir(), env });
  expect(await client.call('x_post_tweet', { text: 'as printed' })).toMatchObject({
    success: true,
  });
  expect(await client.call('x_get_home_timeline')).toMatchObject({
    error: { code: 'x_api_error' },
  });
  expect(await client.call('x_search_tweets', { query: 'the' })).toMatchObject({ success: true });
  await client.close();
  const [, url = ''] = /TOOLKEEL_STAC_URL=(\S+) toolkeel serve stac$/m.exec(stac) ?? [];
  expect((await fetch(url)).status).toBe(200);
  run.kill('SIGINT');
  expect(await run.ended).toEqual({ code: 0, signal: null });
});

it('prints a login command that works and does not touch a real login', async () => {
  const run = toolkeel(['sandbox', 'x', '--client-secret', 'open'], { cwd: dir() });
  await run.waitForOutput(/Press Ctrl-C to stop/);
  expect(run.out()).toMatch(/^ {2}client id +toolkeel-sandbox$/m);
  const [, variables = '', args = ''] =
    /^ {2}(TOOLKEEL_X_\S+(?: TOOLKEEL_X_\S+)*) toolkeel (login .*)$/m.exec(run.out()) ?? [];
  const env = Object.fromEntries(variables.split(' ').map((pair) => pair.split('=', 2)));
  const login = toolkeel([...args.split(' '), '--port', '0'], { cwd: dir(), env });
  const [, url = ''] = await login.waitForOutput(/^ {2}(http\S+)$/m);
  expect((await fetch(url)).status).toBe(200);
  expect(await login.ended).toEqual({ code: 0, signal: null });
  expect(login.out()).toContain('Logged in as @');
  expect(existsSync(join(dir(), 'data', 'x-login.json'))).toBe(false);
  run.kill('SIGINT');
  expect(await run.ended).toEqual({ code: 0, signal: null });
});
