import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  acceptControls,
  defineTool,
  type Envelope,
  profilesFrom,
  runTool,
  type Tool,
  type ToolContext,
} from '@toolkeel/contract';
import {
  createJournal,
  ephemeralEncryption,
  type JournalStore,
  memoryStore,
  openStore,
} from '@toolkeel/journal';
import { watchWrites, type WriteWatch } from '@toolkeel/journal/testing';
import type { PackRig } from '@toolkeel/pack-kit/testing';
import { startXSandbox } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { x as pack } from '../src/index.js';
import { png } from '../src/media/files.fixture.js';
import { postsFor, setsFor } from './support/acts.js';
import { PATIENCE_MS } from './support/closing.js';
import { loginTo, useGoverned } from './support/governed.js';
import { type Config, created, useSandbox, useWorld } from './support/rig.js';

const sandboxWorld = useSandbox();
const { onClose } = useWorld();

type Answer = Envelope<Readonly<Record<string, unknown>>>;
type Call = (tool: string, args: object) => Promise<Answer>;

/** Calls the tools of a pack through a journal. */
function journaled(rig: PackRig, store: JournalStore): Call {
  const tools = rig.instance.tools.map((tool): Tool => acceptControls(tool));
  const load = (name: string) => tools.find((tool) => tool.name === name);
  const journal = createJournal({
    store,
    encryption: ephemeralEncryption(),
    tools: { specs: () => tools, load },
    observe: () => undefined,
  });
  onClose(() => journal.close());
  return async (name, args) => {
    const tool = load(name);
    if (!tool) throw new Error(`no tool ${name}`);
    const deadline = performance.now() + 10_000;
    const run = await runTool(tool, args, { middleware: journal.middleware, deadline });
    return run.envelope as Answer;
  };
}

const brief: Config = { toolTimeoutSecs: 10, attemptTimeoutSecs: 4 };

async function world(options: object = {}, config: Config = {}) {
  const { sandbox, rig, another } = await sandboxWorld(
    { tier: 'enterprise', ...options },
    { ...brief, ...config },
  );
  const store = memoryStore();
  return {
    sandbox,
    call: journaled(rig, store),
    next: async () => journaled(await another(), store),
  };
}

const codeOf = (answer: Answer) => (answer.success ? 'ok' : answer.error.code);

describe('with a journal', () => {
  it('concurrent equal calls create one post', async () => {
    const { sandbox, call, next } = await world({ latency: { fixedMs: 30 } });
    const other = await next();
    const asks = Array.from({ length: 12 }, (_, index) =>
      (index % 2 === 0 ? call : other)('x_post_tweet', { text: 'once' }),
    );
    const answers = await Promise.all(asks);
    expect(created(sandbox)).toHaveLength(1);
    for (const answer of answers) expect(answer.data).toEqual(answers[0]?.data);
  });

  it('a thread resumes in another process, after the parts that were read back', async () => {
    const { sandbox, call, next } = await world();
    const tweets = ['one', 'two & more', 'three example.com', 'four'];
    sandbox.setFaults([
      { kind: 'reset-after-read', routes: ['create-post'], skip: 1, times: 1 },
      { kind: 'x-403-not-permitted', routes: ['create-post'], skip: 1, times: 1 },
    ]);
    const stopped = await call('x_post_thread', { tweets });
    expect(stopped).toMatchObject({
      success: false,
      data: { posted: [{ index: 0 }, { index: 1 }], failed: { index: 2, code: 'x_forbidden' } },
      error: { code: 'thread_partial_failure', details: { posted: 2, failed_at_index: 2 } },
    });
    const done = await (await next())('x_post_thread', { tweets });
    const made = created(sandbox);
    expect(made.map(({ text }) => text)).toEqual(tweets);
    expect(done).toMatchObject({ success: true, data: { tweets: made.map(({ id }) => ({ id })) } });
  });

  it('a rate limit releases the dedup key', async () => {
    const { sandbox, call, next } = await world();
    sandbox.setFaults([{ kind: 'x-429-window', routes: ['create-post'], times: 1 }]);
    expect(codeOf(await call('x_post_tweet', { text: 'slower' }))).toBe('x_rate_limited');
    expect(codeOf(await (await next())('x_post_tweet', { text: 'slower' }))).toBe('ok');
  });

  it('an engagement can be repeated after its inverse', async () => {
    const { sandbox, call } = await world({ duplicateWindowMs: 0 });
    const like = { tweet_id: sandbox.landmarks.unaskedPostId };
    for (const tool of ['x_like_tweet', 'x_like_tweet', 'x_unlike_tweet', 'x_like_tweet']) {
      expect(codeOf(await call(tool, like))).toBe('ok');
    }
    expect(sandbox.commits().map(({ kind }) => kind)).toEqual([
      'like.created',
      'like.deleted',
      'like.created',
    ]);
    const { mentionId } = sandbox.landmarks;
    const acts = [
      ['x_post_tweet', { text: 'again' }],
      ['x_reply_to_tweet', { text: 'again', in_reply_to_id: mentionId }],
      ['x_post_thread', { tweets: ['again and', 'again'] }],
    ] as const;
    for (const [tool, args] of acts) {
      const posted = await call(tool, args);
      if (!posted.success) throw new Error(posted.error.message);
      const id = posted.data['id'] ?? posted.data['root_id'];
      const before = created(sandbox).length;
      await call(tool, args);
      expect(created(sandbox)).toHaveLength(before);
      expect(codeOf(await call('x_delete_tweet', { tweet_id: id }))).toBe('ok');
      expect(codeOf(await call(tool, args))).toBe('ok');
      expect(created(sandbox).length).toBeGreaterThan(before);
    }
  });

  it.each([
    ['x_like_tweet', 'x_unlike_tweet', 'unlike', 'tweet_id'],
    ['x_retweet', 'x_unretweet', 'unrepost', 'tweet_id'],
    ['x_bookmark_tweet', 'x_unbookmark_tweet', 'unbookmark', 'tweet_id'],
    ['x_follow_user', 'x_unfollow_user', 'unfollow', 'target_user_id'],
  ] as const)(
    '%s is executed again after %s, also after a lost response',
    async (act, undo, route, argument) => {
      const { sandbox, call } = await world();
      const { unaskedPostId, strangerId } = sandbox.landmarks;
      const args = { [argument]: argument === 'tweet_id' ? unaskedPostId : strangerId };
      expect(codeOf(await call(act, args))).toBe('ok');
      sandbox.setFaults([{ kind: 'acted-http-503', routes: [route] }]);
      expect(codeOf(await call(undo, args))).toBe('x_api_error');
      sandbox.setFaults([]);
      expect(codeOf(await call(act, args))).toBe('ok');
      const kinds = sandbox.commits().map(({ kind }) => kind.split('.')[1]);
      // One of them was already executed.
      expect(kinds.slice(-2)).toEqual(['deleted', 'created']);
    },
  );

  it('a key identifies one act', async () => {
    const { sandbox, call } = await world();
    const idempotency_key = 'a-key-of-sixteen-or-more';
    expect(codeOf(await call('x_post_tweet', { text: 'a', idempotency_key }))).toBe('ok');
    expect(codeOf(await call('x_post_tweet', { text: 'b', idempotency_key }))).toBe(
      'idempotency_conflict',
    );
    expect(created(sandbox)).toHaveLength(1);
  });
});

const { newFolder, start, onClose: afterSuite } = useGoverned();
const { serve } = useWorld();

async function watched(...given: Parameters<typeof watchWrites>): Promise<WriteWatch> {
  const watch = await watchWrites(...given);
  afterSuite(() => watch.close());
  return watch;
}

describe('a write to X', () => {
  it(
    'of any tool arrives after its operation is recorded as sending',
    async () => {
      const x = await startXSandbox({ tier: 'enterprise', duplicateWindowMs: 0 });
      afterSuite(() => x.close());
      const folder = await newFolder();
      await writeFile(join(folder, 'picture.png'), png(200));
      const acts = [...(await postsFor(x, 'one')), ...(await setsFor(x, 'picture.png'))];
      const store = await openStore('sqlite:journal.db', { dataDir: folder });
      afterSuite(() => store.close());
      const watch = await watched(x.url, store);
      const login = loginTo(x, { mediaDirectories: [folder], baseUrl: watch.url });
      const server = await start({ folder, ...login });
      const tools = new Set<string>();
      for (const { tool, args } of acts) {
        const writes = await watch.during(tool, async () =>
          expect(await server.call(tool, args)).toMatchObject({ success: true }),
        );
        expect({ tool, writes: writes.length > 0 }).toEqual({ tool, writes: true });
        tools.add(tool);
      }
      const mutating = pack.describe().filter(({ mutation, delegates }) => mutation && !delegates);
      expect([...tools].toSorted()).toEqual(mutating.map(({ name }) => name).toSorted());
    },
    PATIENCE_MS,
  );
});

describe('the check for unrecorded writes', () => {
  const post = (url: string): Promise<unknown> => fetch(`${url}/posts`, { method: 'POST' });
  type Operation = NonNullable<ToolContext['operation']>;

  async function runWith(
    send: 'automatic' | 'explicit',
    handler: (url: string, operation: Operation) => Promise<unknown>,
  ): Promise<readonly string[]> {
    const upstream = await serve(() => ({ json: {} }));
    const store = memoryStore();
    const watch = await watched(upstream.origin, store);
    const journal = createJournal({ store, encryption: ephemeralEncryption() });
    afterSuite(() => journal.close());
    const tool: Tool = acceptControls(
      defineTool({
        name: 'post',
        title: 'Post',
        description: 'Posts something.',
        category: 'write',
        effect: 'once',
        send,
        profiles: profilesFrom('api'),
        errors: [],
        input: z.object({}),
        output: z.strictObject({}),
        handler: async (_, { operation }) => {
          await fetch(`${watch.url}/posts`);
          await handler(watch.url, operation!);
          return {};
        },
      }),
    );
    return watch.during('post', () => runTool(tool, {}, { middleware: journal.middleware }));
  }

  it.each([
    ['before send', (url, operation) => post(url).then(() => operation.send(() => post(url)))],
    ['without send', (url) => post(url)],
  ] as const satisfies readonly (readonly [string, Parameters<typeof runWith>[1]])[])(
    'fails a tool that writes %s',
    async (_, handler) => {
      await expect(runWith('explicit', handler)).rejects.toThrow(
        'post sent POST /posts before its operation was recorded as sending',
      );
    },
  );

  it.each([
    ['inside send', 'explicit', (url, operation) => operation.send(() => post(url))],
    ['in automatic mode', 'automatic', (url) => post(url)],
  ] as const satisfies readonly (readonly [string, ...Parameters<typeof runWith>])[])(
    'passes a tool that writes %s, and its reads',
    async (_, send, handler) => {
      expect(await runWith(send, handler)).toEqual(['POST /posts']);
    },
  );
});
