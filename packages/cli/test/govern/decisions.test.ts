import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineTool, runTool, toolError, type Tool } from '@toolkeel/contract';
import { loadConfig, openJournalStore } from '@toolkeel/host';
import { createJournal, type Decide, type Journal, type OperationView } from '@toolkeel/journal';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { toolsOf } from '../../src/packs.js';
import { run } from '../../src/run.js';
import { fakeRuntime, useTempDir } from '../../src/runtime.fixture.js';

const dir = useTempDir();
const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

const command = async (...args: readonly string[]) => {
  const runtime = fakeRuntime({ cwd: dir() });
  const code = await run(args, runtime);
  return { code, out: runtime.output(), err: runtime.errorOutput() };
};

const asking: Decide = (_, { approved }) =>
  approved
    ? { kind: 'allow', limits: [] }
    : { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: 3_600_000 };

/** Starts a server in this process. */
const serve = async (tools: readonly Tool[], config: object = {}, decide = asking) => {
  writeFileSync(
    join(dir(), 'toolkeel.config.json'),
    JSON.stringify({ dataDir: 'data', ...config }),
  );
  const { store, journaling } = await openJournalStore(loadConfig({ cwd: dir(), env: {} }));
  const named = (name: string) => tools.find((tool) => tool.name === name);
  const journal = createJournal({
    ...journaling,
    tools: { specs: () => tools, load: named },
    decide,
    pollMs: 20,
  });
  let isOpen = true;
  const stop = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await journal.close();
    await store.close();
  };
  opened.push(stop);
  return { journal, stop };
};

const asked = async ({ middleware }: Journal, tool: Tool, args: object) => {
  const { envelope } = await runTool(tool, args, {
    middleware: (call, next) => middleware(call, next),
  });
  if (envelope.success) throw new Error('it was executed');
  expect(envelope.error.code).toBe('approval_required');
  const id = envelope.error.operation_id ?? '';
  const shown = JSON.parse((await command('approvals', 'show', id, '--json')).out) as OperationView;
  return { id, hash: shown.approval?.hash ?? '' };
};

const zoo = {
  title: 'Zoo',
  category: 'zoo',
  description: 'Does something in a zoo.',
  effect: 'once',
  profiles: ['workflow'],
} as const;
const feed = (handler: Tool['handler']): Tool => ({
  ...defineTool({
    ...zoo,
    name: 'zoo_feed',
    sensitive: ['badge'],
    input: z.object({ animal: z.string(), badge: z.string() }),
    output: z.object({ fed: z.string() }),
    errors: ['not_found'],
    handler: () => ({ fed: '' }),
  }),
  handler,
});
const lion = { animal: 'lion', badge: 'b-4711' };

describe('toolkeel approvals, for a tool of another server', () => {
  it('shows the approved operation, and reports that no live server has the tool', async () => {
    const tool = feed(() => ({ fed: 'lion' }));
    const { journal, stop } = await serve([tool]);
    const { id, hash } = await asked(journal, tool, lion);
    await stop();
    const list = await command('approvals', 'list');
    expect(list.out).toMatch(/^op_\w+ +zoo_feed +animal: "lion" .* pending +\d{4}-\d\d-\d\d /m);
    const { code, out } = await command('approvals', 'approve', id, '--hash', hash, '--by', 'ana');
    expect(out).toMatch(/^zoo_feed\n\{\n {2}"animal": "lion",\n {2}"badge": "\[sensitive\]"\n\}/);
    expect(out).toMatch(
      /is approved\.\nNo live server has zoo_feed: it is executed when one starts, until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+\.\n$/,
    );
    expect(code).toBe(0);
  });

  it('reports the result of the execution', async () => {
    const tool = feed(() => ({ fed: 'lion' }));
    const { journal } = await serve([tool]);
    journal.start();
    const { id, hash } = await asked(journal, tool, lion);
    const { code, out } = await command('approvals', 'approve', id, '--hash', hash);
    expect(out).toMatch(/is approved\.\nExecuted\. Result:\n\{\n {2}"fed": "lion"\n\}\n$/);
    expect(code).toBe(0);
  });

  it('reports the error code of a failed execution', async () => {
    const tool = feed(() =>
      toolError('not_found', 'There is no lion.', { outcome: 'not_executed' }),
    );
    const { journal } = await serve([tool]);
    journal.start();
    const { id, hash } = await asked(journal, tool, lion);
    const { code, out } = await command('approvals', 'approve', id, '--hash', hash);
    expect(out).toMatch(/is approved\.\nFailed: not_found: There is no lion\.\n$/);
    expect(code).toBe(1);
    const json = await command('approvals', 'approve', id, '--hash', hash, '--json');
    expect(JSON.parse(json.out)).toMatchObject({ decided: false, kind: 'already' });
  });

  it('distinguishes a wrong hash from an edit', async () => {
    const tool = feed(() => ({ fed: 'lion' }));
    const { journal } = await serve([tool]);
    const { id, hash } = await asked(journal, tool, lion);
    const wrong = await command('approvals', 'approve', id, '--hash', hash.slice(0, 8));
    expect(wrong.out).toContain('it is not the hash of the arguments of this operation');
    expect(wrong.out).not.toContain('edited');
    await journal.approvals.edit(id, { hash, by: 'bo', changes: { animal: 'tiger' } });
    const late = await command('approvals', 'approve', id, '--hash', hash);
    expect(late.out).toMatch(/does not match the arguments, which were edited by bo at /);
    expect([wrong.code, late.code]).toEqual([1, 1]);
    const set = await command('approvals', 'edit', id, '--set', 'animal=ape', '--hash', hash);
    expect(set).toMatchObject({ code: 1, err: expect.stringContaining('its checks cannot run') });
  });
});

describe('toolkeel approvals edit', () => {
  const link = { name: 'no links', when: { tool: 'x_post_tweet', 'args.text': { links: true } } };
  const posting = async (rules: readonly object[]) => {
    const spec = (await toolsOf(['x'])).find(({ name }) => name === 'x_post_tweet');
    if (!spec) throw new Error('there is no x_post_tweet');
    const tool: Tool = { ...spec, handler: () => ({}) };
    const { journal } = await serve([tool], { rules });
    const { id, hash } = await asked(journal, tool, { text: 'hello' });
    return (text: string) =>
      command('approvals', 'edit', id, '--set', `text=${text}`, '--hash', hash, '--by', 'ana');
  };

  it('refuses arguments that the tool or a rule refuses, with the reason', async () => {
    const edit = await posting([{ ...link, action: 'deny' }]);
    expect(await edit('x'.repeat(301))).toMatchObject({
      code: 1,
      err: expect.stringContaining('text counts as 301 characters; the limit is 280'),
    });
    expect(await edit('see https://a.test')).toMatchObject({
      code: 1,
      err: expect.stringContaining('The rule "no links" denies this call'),
    });
    const { code, out } = await edit('hello there');
    expect(code).toBe(0);
    expect(out).toMatch(/edited by ana, .*\n- text: "hello"\n\+ text: "hello there"\n/);
  });

  it('refuses every edit while the rules of the configuration are invalid', async () => {
    const edit = await posting([{ ...link, action: 'deny', when: { tool: 'x_post_twet' } }]);
    const { code, err } = await edit('hello there');
    expect(code).toBe(1);
    expect(err).toMatch(
      /rules\/0\/when\/tool: unknown tool "x_post_twet"[\s\S]*policy cannot be evaluated/,
    );
  });
});

it('toolkeel operations resolve records a step and reports that the operation is not finished', async () => {
  const tour = defineTool({
    ...zoo,
    name: 'zoo_tour',
    send: 'explicit',
    input: z.object({}),
    output: z.object({}),
    errors: [],
    handler: async (_, { operation }) => {
      await operation?.step('lions', () => operation.send(() => Promise.resolve(1)));
      await operation?.step('apes', () => operation.send(() => Promise.reject(new Error('reset'))));
      return {};
    },
  });
  const { journal, stop } = await serve([tour], {}, () => ({ kind: 'allow', limits: [] }));
  await runTool(tour, {}, { middleware: (call, next) => journal.middleware(call, next) });
  await stop();
  const { out: listed } = await command('operations', 'list', '--state', 'unknown');
  const [id = ''] = /op_\w+/.exec(listed) ?? [];
  const recorded = ['operations', 'resolve', id, '--outcome', 'executed', '--data', '2'];
  expect(await command(...recorded, '--by', 'ana')).toMatchObject({
    code: 0,
    out: `Step apes of ${id} is recorded as executed, by ana. The operation is not finished: a call of zoo_tour with the same arguments resumes it.\n`,
  });
});
