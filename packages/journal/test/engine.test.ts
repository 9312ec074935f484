import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acceptControls, defineTool, runTool, toolError, type Tool } from '@toolkeel/contract';
import {
  createJournal,
  openEncryption,
  openStore,
  type Decide,
  type Journal,
} from '@toolkeel/journal';
import { testJournal } from '@toolkeel/journal/testing';
import { FaultError } from '@toolkeel/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

/** The ground truth, and the next faults to inject. */
const world: { effects: string[]; faults: ('none' | 'reset' | '429')[] } = {
  effects: [],
  faults: [],
};

async function act(subject: string): Promise<{ id: string }> {
  const fault = world.faults.shift();
  if (fault === '429') throw new FaultError({ kind: 'rate_limited', sent: 'answered' });
  world.effects.push(subject);
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (fault === 'reset') throw new FaultError({ kind: 'network', sent: 'maybe' });
  return { id: `${subject}#${world.effects.length}` };
}

const base = {
  title: 'Test',
  description: 'Tests.',
  category: 'write',
  effect: 'once',
  profiles: ['api', 'workflow'],
  send: 'explicit',
} as const;
const tools = new Map<string, Tool>(
  [
    defineTool({
      ...base,
      name: 'post',
      sensitive: ['secret'],
      input: z.object({ text: z.string(), secret: z.string().default('s') }),
      output: z.object({ id: z.string() }),
      errors: ['rate_limited', 'upstream_unavailable'],
      handler: async ({ text }, { operation }) => {
        return operation!.send(async () => act(text));
      },
      reconcile: {
        authoritative: true,
        readBack: async ({ args }) =>
          world.effects.includes(args.text)
            ? { found: 'executed', data: { id: `found ${args.text}` } }
            : { found: 'absent' },
      },
    }) as Tool,
    defineTool({
      ...base,
      name: 'thread',
      input: z.object({ posts: z.array(z.string()) }),
      output: z.object({ count: z.int() }),
      errors: ['rate_limited', 'thread_partial_failure'],
      handler: async ({ posts }, { operation }) => {
        for (const [index, post] of posts.entries()) {
          try {
            await operation!.step(`post ${index}`, () => operation!.send(async () => act(post)));
          } catch (cause) {
            if (!(cause instanceof FaultError)) throw cause;
            return toolError('thread_partial_failure', 'Half.');
          }
        }
        return { count: posts.length };
      },
    }) as Tool,
  ].map((tool) => [tool.name, acceptControls(tool)]),
);

const decide: Decide = ({ args }, { approved }) =>
  args['text'] === 'delicate' && !approved
    ? { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: 60_000 }
    : { kind: 'allow', limits: [] };

const dataDir = mkdtempSync(join(tmpdir(), 'toolkeel-engine-'));
const cleanUp: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const each of cleanUp.toReversed()) await each();
  rmSync(dataDir, { recursive: true });
});

async function process(url: string): Promise<Journal> {
  const store = await openStore(url, { dataDir });
  const journal = createJournal({
    store,
    encryption: await openEncryption(store, dataDir),
    tools: { specs: () => [...tools.values()], load: (name) => tools.get(name) },
    decide,
    pollMs: 50,
  });
  journal.start();
  cleanUp.push(async () => {
    await journal.close();
    await store.close();
  });
  return journal;
}

async function call(journal: Journal, name: string, args: object) {
  const deadline = performance.now() + 40_000;
  const scope = { meta: {}, signal: new AbortController().signal, deadline, hold: () => undefined };
  const { envelope } = await runTool(tools.get(name)!, args, {
    deadline: deadline + 10,
    middleware: (accepted, next) => journal.middleware(accepted, next, scope),
  });
  return envelope;
}

async function postgresUrl(): Promise<string> {
  const { url, drop } = await testJournal();
  cleanUp.push(drop);
  return url;
}

describe.each([
  ['SQLite', () => Promise.resolve('sqlite:journal.db')],
  ['PostgreSQL', postgresUrl],
])('two processes on one journal in %s', (kind, urlOf) => {
  let one: Journal;
  let two: Journal;
  const named = (text: string) => `${kind} ${text}`;

  beforeAll(async () => {
    const url = await urlOf();
    [one, two] = [await process(url), await process(url)];
  }, 120_000);

  it('execute once under concurrent calls', async () => {
    const args = { text: named('a') };
    const calls = Array.from({ length: 20 }, (_, index) =>
      call(index % 2 ? one : two, 'post', args),
    );
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(answers.every(({ success }) => success)).toBe(true);
    expect(world.effects.filter((each) => each === named('a'))).toHaveLength(1);
  });

  it('reconcile lost answers', async () => {
    world.faults.push('reset');
    const answer = await call(one, 'post', { text: named('lost') });
    expect(answer).toMatchObject({ success: true, data: { id: `found ${named('lost')}` } });
    expect(await call(two, 'post', { text: named('lost') })).toMatchObject({ data: answer.data });
  });

  it('resume each other’s threads', async () => {
    const posts = ['1', '2', '3'].map((each) => named(`thread ${each}`));
    world.faults.push('none', '429');
    expect(await call(one, 'thread', { posts })).toMatchObject({
      error: { code: 'thread_partial_failure' },
    });
    expect(await call(two, 'thread', { posts })).toMatchObject({ data: { count: 3 } });
    expect(world.effects.filter((each) => posts.includes(each))).toEqual(posts);
  });

  it('execute an operation once that an operator approves at one of them', async () => {
    const args = { text: 'delicate', secret: named('4111') };
    const before = world.effects.length;
    const { error } = await call(one, 'post', args);
    expect(error).toMatchObject({ code: 'approval_required' });
    const waiting = await two.approvals.show(error?.operation_id ?? '');
    expect(waiting?.arguments).toEqual({ text: 'delicate', secret: '[sensitive]' });
    const hash = waiting?.approval?.hash ?? '';
    await two.approvals.approve(waiting?.id ?? '', { hash, by: 'ana' });
    await expect
      .poll(() => one.operations.show(waiting?.id ?? ''))
      .toMatchObject({ state: 'succeeded' });
    expect(await call(one, 'post', args)).toMatchObject({ success: true });
    expect(world.effects.length).toBe(before + 1);
  });
});
