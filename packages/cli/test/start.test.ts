import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { overHttp, type Envelope } from './support/client.js';
import { endAll, start } from './support/process.js';

afterEach(endAll);

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs a command in a shell, exactly as printed. */
const inShell = async (command: string): Promise<string> => {
  const shell = start('sh', ['-c', command], { cwd: root });
  expect(await shell.ended).toEqual({ code: 0, signal: null });
  return shell.out();
};

interface Result {
  readonly result: { readonly structuredContent: Envelope };
}

const envelopeIn = (answer: string): Envelope =>
  (JSON.parse(answer) as Result).result.structuredContent;

it('`npm start` runs a sandbox that can act, prints commands that work, and stops gracefully at Ctrl-C', async () => {
  const run = start(process.execPath, ['scripts/start.mjs', '--port', '0'], { cwd: root });
  await run.waitForOutput(/Press Ctrl-C to stop/);
  const [, url = ''] = /MCP +(http:\S+)/.exec(run.out()) ?? [];
  const client = await overHttp(url);
  expect(await client.call('get_root')).toMatchObject({ data: { catalog: 'sandbox' } });
  await client.close();

  const [, printed = ''] = run.out().split('nothing is executed twice');
  const commands = printed.match(/^ {2}curl (?:.*\\\n)*.*$/gm) ?? [];
  expect(commands).toHaveLength(4);
  const [lose = '', post = '', again = '', log = ''] = commands;
  await inShell(lose);
  const first = envelopeIn(await inShell(post));
  expect(first).toMatchObject({ success: true, meta: { idempotency: { replayed: false } } });
  const second = envelopeIn(await inShell(again));
  expect(second).toMatchObject({ success: true, meta: { idempotency: { replayed: true } } });
  expect(second.data).toEqual(first.data);
  const { commits } = JSON.parse(await inShell(log)) as { commits: readonly object[] };
  expect(commits).toEqual([
    expect.objectContaining({ kind: 'post.created', id: first.data['id'], text: 'Hello' }),
  ]);

  // A terminal signals the whole process group, and the script forwards the signal again.
  run.kill('SIGINT');
  expect(await run.ended).toEqual({ code: 0, signal: null });
  expect(run.err()).toMatch(/"event":"stopped"/);
}, 60_000);
