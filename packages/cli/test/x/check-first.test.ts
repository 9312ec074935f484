import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startXSandbox, type XSandbox } from '@toolkeel/sandbox';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/run.js';
import { fakeRuntime, useTempDir } from '../../src/runtime.fixture.js';
import { overStdio, type Connected } from '../support/client.js';

const dir = useTempDir();
let x: XSandbox;
let clients: Connected[] = [];
let before = 0;

beforeAll(async () => {
  x = await startXSandbox();
});
beforeEach(() => {
  mkdirSync(join(dir(), 'pictures'));
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';
  writeFileSync(join(dir(), 'pictures', 'picture.png'), Buffer.from(pixel, 'base64'));
  writeFileSync(join(dir(), 'pictures', 'notes.png'), 'no picture');
  before = x.log().length;
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
});
afterAll(() => x.close());

const ruled = (action: string) => ({
  profile: 'workflow',
  mode: 'autopilot',
  template: 'open',
  rules: [{ name: 'mine', when: { tool: 'x_*' }, action }],
});
/** The requests to X, except the account lookup. */
const requests = () =>
  x
    .log()
    .slice(before)
    .filter(({ route }) => route !== 'me');
const login = () => ({ TOOLKEEL_X_ACCESS_TOKEN: x.credentials.accessToken });

const serve = async (config: object, env: Readonly<Record<string, string>> = login()) => {
  const mediaDirectories = [join(dir(), 'pictures')];
  const whole = { packs: { x: { baseUrl: x.url, mediaDirectories } }, ...config };
  writeFileSync(join(dir(), 'toolkeel.config.json'), JSON.stringify(whole));
  const client = await overStdio(['x'], { cwd: dir(), env });
  clients.push(client);
  return client;
};
const operations = async (): Promise<readonly unknown[]> => {
  const env = { TOOLKEEL_DATA_DIR: join(dir(), 'data') };
  const runtime = fakeRuntime({ cwd: dir(), env });
  expect(await run(['operations', 'list', '--json'], runtime)).toBe(0);
  const output = JSON.parse(runtime.output()) as { operations: readonly unknown[] };
  return output.operations;
};
/** All stored bytes. */
const stored = (): string =>
  readdirSync(join(dir(), 'data'), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => readFileSync(join(dir(), 'data', name), 'latin1'))
    .join('\n');

/** Invalid calls and their error codes. */
const impossible = [
  ['a post of 281 characters', 'x_post_tweet', { text: 'x'.repeat(281) }, 'tweet_too_long'],
  [
    'a reply of 141 characters that count twice',
    'x_reply_to_tweet',
    { text: '語'.repeat(141), in_reply_to_id: '1' },
    'tweet_too_long',
  ],
  ['a thread with an empty part', 'x_post_thread', { tweets: ['one', ' '] }, 'invalid_input'],
  [
    'a thread with a part that is too long',
    'x_post_thread',
    { tweets: ['one', 'y'.repeat(281)] },
    'tweet_too_long',
  ],
  ['a like outside of its tier', 'x_like_tweet', { tweet_id: '1' }, 'x_forbidden'],
  [
    'a quote outside of its tier',
    'x_quote_tweet',
    { text: 'so', quoted_tweet_id: '1' },
    'x_forbidden',
  ],
  ['a file outside', 'x_upload_media', { file_path: '/etc/passwd' }, 'file_read_error'],
  ['a file that is none', 'x_upload_media', { file_path: 'notes.png' }, 'unsupported_media_type'],
] as const;

const checked = { success: true, data: { state: 'checked', media_id: null } };
const denied = { error: { code: 'policy_denied_user_rule' } };

/** The results of a dry-run upload and of a post, by rule action. */
const following = {
  // A dry run sends nothing, so it requires no approval and stores nothing.
  require_approval: { trial: checked, kept: 0, post: { error: { code: 'approval_required' } } },
  dry_run: { trial: checked, kept: 0, post: { error: { code: 'dry_run' } } },
  deny: { trial: denied, kept: 1, post: denied },
} as const;

describe.each(['require_approval', 'dry_run', 'deny'] as const)(
  'with a rule that says %s',
  (action) => {
    it('invalid calls are refused before the rule, and not stored', async () => {
      const client = await serve(ruled(action));
      for (const [what, tool, args, code] of impossible) {
        const { error } = await client.call(tool, { ...args });
        expect({ what, ...error }).toMatchObject({ what, code, outcome: 'not_executed' });
        expect(error).not.toHaveProperty('operation_id');
      }
      expect(await operations()).toEqual([]);
      const { trial, kept, post } = following[action];
      const args = { file_path: 'picture.png', dry_run: true };
      expect(await client.call('x_upload_media', args)).toMatchObject(trial);
      expect(await operations()).toHaveLength(kept);
      const text = 'to be seen in the file';
      expect(await client.call('x_post_tweet', { text })).toMatchObject(post);
      const real = { file_path: 'picture.png' };
      expect(await client.call('x_upload_media', real)).toMatchObject(post);
      // Repeated denials of a tool are counted, not stored.
      expect(await operations()).toHaveLength(2);
      await client.close();
      // Arguments are encrypted; the result of a dry run contains them.
      expect(stored().includes('to be seen in the file')).toBe(action === 'dry_run');
      expect(stored().includes('/etc/passwd')).toBe(false);
      expect(requests()).toEqual([]);
    });

    it('without a credential every mutation returns x_not_configured', async () => {
      const client = await serve(ruled(action), {});
      const calls = [
        ['x_post_tweet', { text: 'x' }],
        ['x_post_thread', { tweets: ['x'] }],
        ['x_delete_tweet', { tweet_id: '1' }],
        ['x_retweet', { tweet_id: '1' }],
        ['x_upload_media', { file_path: 'picture.png' }],
        ['x_upload_media', { file_path: 'picture.png', dry_run: true }],
      ] as const;
      for (const [tool, args] of calls) {
        const { error } = await client.call(tool, { ...args });
        const refused = { tool, code: 'x_not_configured', outcome: 'not_executed' };
        expect({ tool, ...error }).toMatchObject(refused);
      }
      expect(await operations()).toEqual([]);
    });
  },
);

it('a settled operation is replayed even if it would now be refused', async () => {
  const post = { text: 'once and for all', idempotency_key: 'post-of-monday-01' };
  const upload = { file_path: 'picture.png', idempotency_key: 'picture-of-monday' };
  const first = await serve({ profile: 'api' });
  const posted = await first.call('x_post_tweet', post);
  const uploaded = await first.call('x_upload_media', upload);
  expect([posted.success, uploaded.success]).toEqual([true, true]);
  await first.close();
  const sent = requests().length;
  rmSync(join(dir(), 'pictures', 'picture.png'));
  const second = await serve(ruled('require_approval'));
  const replayed = { idempotency: { replayed: true } };
  expect(await second.call('x_post_tweet', post)).toMatchObject({
    data: posted.data,
    meta: replayed,
  });
  expect(await second.call('x_upload_media', upload)).toMatchObject({
    data: uploaded.data,
    meta: replayed,
  });
  const anew = { file_path: 'picture.png' };
  expect((await second.call('x_upload_media', anew)).error?.code).toBe('file_read_error');
  expect(requests()).toHaveLength(sent);
  // Without a credential the account is unknown, so no operation of it is found.
  await second.close();
  const third = await serve(ruled('require_approval'), {});
  expect((await third.call('x_post_tweet', post)).error?.code).toBe('x_not_configured');
});
