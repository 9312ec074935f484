import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { FaultError } from '@toolkeel/kernel';
import { expect, test } from 'vitest';
import { GitHubClient, type GitHubResponse } from '../src/index.js';
import { closeAfterEach, onClose } from './support/rig.js';

closeAfterEach();

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body: object | string;
  readonly status: number;
  readonly response: unknown;
}

async function startServer(): Promise<string> {
  const program = fileURLToPath(new URL('support/fixtures-server.mjs', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onClose(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return `http://127.0.0.1:${port.toString().trim()}`;
}

/** The exchanges that the client refuses to send, or whose answers it does not read. No tool needs them. */
const unsupported: Readonly<Record<string, string>> = {
  'get-archive 0': 'redirects to an archive, which is binary; the client reads JSON and text',
  'get-archive 1': 'the archive itself, on codeload.github.com',
  'release-assets 1': 'an upload to uploads.github.com: the credential is sent to the API only',
  'release-assets-conflict 1': 'an upload to uploads.github.com',
  'release-assets-conflict 4': 'an upload to uploads.github.com',
};

const isRedirect = ({ status }: Exchange): boolean => status >= 300 && status < 400;

/** Sends a recorded request; undefined for one that GitHub rejected with the recorded status. */
async function send(
  client: GitHubClient,
  { method, path, body, status, response }: Exchange,
): Promise<GitHubResponse | undefined> {
  const verb = method.toUpperCase();
  const parameters = typeof body === 'object' ? { ...body } : body === '' ? {} : { data: body };
  const isText = typeof response === 'string' && response !== '';
  const options = isText ? { expects: 'text' as const } : {};
  try {
    if (verb === 'GET')
      return await client.follow(client.baseUrl.pathname + path.slice(1), {}, options);
    return await client.once(`${verb} ${path}`, parameters, {}, options);
  } catch (cause) {
    if (cause instanceof FaultError && cause.fault.status === status) return undefined;
    throw cause;
  }
}

test('the recorded exchanges of GitHub replay through the client', async () => {
  const origin = await startServer();
  const all = (await (await fetch(`${origin}/scenarios`)).json()) as Record<string, Exchange[]>;
  let replayed = 0;
  const skipped: string[] = [];
  for (const [scenario, recorded] of Object.entries(all)) {
    const names = recorded.map((_, at) => `${scenario} ${at}`);
    skipped.push(...names.filter((name) => name in unsupported));
    const exchanges = recorded.filter((_, at) => !(`${scenario} ${at}` in unsupported));
    replayed += exchanges.length;
    if (exchanges.length === 0) continue;
    const loaded = await fetch(`${origin}/fixtures`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ scenario }),
    });
    const { id, url } = (await loaded.json()) as { id: string; url: string };
    const client = new GitHubClient({
      baseUrl: url,
      token: '0'.repeat(40),
      pacing: { mutationIntervalMs: 0 },
    });
    const original = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value ?? '').replaceAll(
          new RegExp(`${origin}/([^/"]+)/${id}/`, 'g'),
          'https://$1/',
        ),
      );
    const isFollowed = (at: number): boolean => {
      const before = exchanges[at - 1];
      return before !== undefined && isRedirect(before) && before.method === 'get';
    };
    for (const [at, exchange] of exchanges.entries()) {
      // The client has followed the redirect of the read before.
      if (isFollowed(at)) continue;
      const isFollowing = isRedirect(exchange) && exchange.method === 'get';
      const expected = isFollowing ? exchanges[at + 1] : exchange;
      const answer = await send(client, exchange);
      if (!answer) continue;
      const { status, response } = expected ?? exchange;
      expect([scenario, answer.status, original(answer.data)]).toEqual([
        scenario,
        status,
        original(response),
      ]);
    }
    await client.close();
  }
  expect(replayed).toBe(66);
  expect(skipped.toSorted()).toEqual(Object.keys(unsupported).toSorted());
}, 60_000);
