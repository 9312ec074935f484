import { afterEach, expect, it } from 'vitest';
import { useTempDir } from '../src/temp-dir.fixture.js';
import { endAll, toolkeel } from './support/process.js';

const dir = useTempDir();

afterEach(endAll);

it('runs upstreams that fail as they are told, and says where they are', async () => {
  const faults = ['--fault', '100%:http-503@search', '--fault', '100%:http-418@item'];
  const run = toolkeel(['sandbox', 'stac', '--scale', '0.1', ...faults], { cwd: dir() });
  await run.said(/Ctrl-C stops it/);
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
