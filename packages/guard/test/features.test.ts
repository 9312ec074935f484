import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp } from './support/chaos.js';
import { endEverything, everythingCommand, everythingUrl } from './support/everything.js';
import { guardProgram, listenGuard, textIn } from './support/guarded.js';
import { rawHttp, rawStdio, type RawClient } from './support/raw-client.js';

afterAll(() => {
  endEverything();
  cleanUp();
});

const revision = '2025-11-25';

/** Requests whose answers depend on nothing but the request. */
const requests: readonly [method: string, params: Record<string, unknown>][] = [
  ['tools/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['prompts/list', {}],
  ['prompts/get', { name: 'args-prompt', arguments: { city: 'Rome' } }],
  ['prompts/get', { name: 'no-such-prompt' }],
  [
    'completion/complete',
    {
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'E' },
    },
  ],
  ['tools/call', { name: 'echo', arguments: { message: 'ünïcode\n' } }],
  ['tools/call', { name: 'get-sum', arguments: { a: 1, b: 2 } }],
  ['tools/call', { name: 'get-structured-content', arguments: { location: 'Chicago' } }],
  ['tools/call', { name: 'get-annotated-message', arguments: { messageType: 'error' } }],
  ['tools/call', { name: 'get-tiny-image', arguments: {} }],
  ['resources/read', { uri: 'no-such-resource' }],
  ['ping', {}],
  ['no/such/method', {}],
];

const answersOf = async (client: RawClient): Promise<unknown[]> => {
  const answers = [];
  for (const [method, params] of requests) {
    const { result, error } = await client.request(method, params);
    answers.push([method, result ?? error]);
  }
  return answers;
};

const open = async (face: string, upstream: string): Promise<RawClient> => {
  const [command, ...args] = everythingCommand;
  const server = upstream === 'HTTP' ? { url: await everythingUrl() } : { command, args };
  if (face === 'stdio') return rawStdio(guardProgram({ upstream: server }), revision);
  const { url, stop } = await listenGuard({ upstream: server });
  const client = await rawHttp(url, revision);
  const close = async (): Promise<void> => {
    await client.close();
    await stop();
  };
  return { ...client, close };
};

describe.each([
  { face: 'stdio', upstream: 'stdio' },
  { face: 'HTTP', upstream: 'stdio' },
  { face: 'stdio', upstream: 'HTTP' },
  { face: 'HTTP', upstream: 'HTTP' },
])('server-everything, $face → guard → $upstream', ({ face, upstream }) => {
  it('answers as without the guard, and keeps its features', async () => {
    const direct = await rawStdio(
      { command: everythingCommand, env: { PATH: process.env['PATH'] ?? '' }, cwd: '.' },
      revision,
    );
    const guard = await open(face, upstream);
    // The server adds tools after it has asked the client for its roots.
    for (const client of [direct, guard])
      await expect.poll(async () => textIn(await client.call('get-roots-list'))).toMatch(/guarded/);
    expect(await answersOf(guard)).toEqual(await answersOf(direct));
    await direct.close();

    expect(JSON.stringify(await guard.call('trigger-sampling-request', { prompt: 'x' }))).toContain(
      'sampled',
    );
    expect(JSON.stringify(await guard.call('trigger-elicitation-request'))).toContain('elicited');

    const long = { duration: 0.2, steps: 2 };
    const meta = { progressToken: 'a token' };
    await guard.call('trigger-long-running-operation', long, { meta });
    const { params } = await guard.inbox.notified('notifications/progress');
    expect(params).toMatchObject({ progressToken: 'a token', progress: 1, total: 2 });

    const endless = { duration: 600, steps: 1 };
    void guard.call('trigger-long-running-operation', endless, { id: 'cancelled' }).catch(() => {});
    guard.inbox.forget('cancelled');
    await guard.notify('notifications/cancelled', { requestId: 'cancelled' });

    await guard.request('logging/setLevel', { level: 'debug' });
    await guard.call('toggle-simulated-logging');
    expect((await guard.inbox.notified('notifications/message')).params).toHaveProperty('level');

    const uri = 'demo://resource/dynamic/text/1';
    const read = await guard.request('resources/read', { uri });
    expect(read.result).toMatchObject({ contents: [{ uri }] });
    await guard.request('resources/subscribe', { uri });
    await guard.call('toggle-subscriber-updates');
    const updated = await guard.inbox.notified('notifications/resources/updated');
    expect(updated.params).toMatchObject({ uri });
    expect(guard.inbox.problems).toEqual([]);
    await guard.close();
  });
});
