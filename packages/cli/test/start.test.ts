import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { overHttp } from './support/client.js';
import { endAll, start } from './support/process.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

afterEach(endAll);

it('`npm start` runs a server before its sandbox, and Ctrl-C stops all of it in peace', async () => {
  const run = start(process.execPath, ['scripts/start.mjs', '--port', '0'], { cwd: root });
  const [, url = ''] = await run.waitForOutput(/MCP +(http:\S+)/);
  const client = await overHttp(url);
  expect(await client.call('get_root')).toMatchObject({ data: { catalog: 'sandbox' } });
  await client.close();
  await run.waitForOutput(/Ctrl-C stops it/);
  // A terminal tells the whole group, and the script passes it on once more.
  run.kill('SIGINT');
  expect(await run.ended).toEqual({ code: 0, signal: null });
  expect(run.err()).toMatch(/"event":"stopped"/);
}, 60_000);
