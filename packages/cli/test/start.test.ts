import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { overHttp } from './support/client.js';
import { endAll, start } from './support/process.js';

afterEach(endAll);

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('`npm start` runs a server with a sandbox, and Ctrl-C stops it gracefully', async () => {
  const run = start(process.execPath, ['scripts/start.mjs', '--port', '0'], { cwd: root });
  const [, url = ''] = await run.waitForOutput(/MCP +(http:\S+)/);
  const client = await overHttp(url);
  expect(await client.call('get_root')).toMatchObject({ data: { catalog: 'sandbox' } });
  await client.close();
  await run.waitForOutput(/Press Ctrl-C to stop/);
  // A terminal signals the whole process group, and the script forwards the signal again.
  run.kill('SIGINT');
  expect(await run.ended).toEqual({ code: 0, signal: null });
  expect(run.err()).toMatch(/"event":"stopped"/);
}, 60_000);
