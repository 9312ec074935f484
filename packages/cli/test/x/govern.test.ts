import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startXSandbox, type XSandbox } from '@toolkeel/sandbox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/run.js';
import { fakeRuntime, useTempDir } from '../../src/runtime.fixture.js';
import { overStdio, type Connected } from '../support/client.js';

const dir = useTempDir();
let x: XSandbox;
let clients: Connected[] = [];

beforeAll(async () => {
  x = await startXSandbox();
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
});
afterAll(() => x.close());

/** Overrides the published prices of X. */
const prices = { post: 0.03, post_with_url: 0.5 };

const serve = async (config: object): Promise<Connected> => {
  const whole = { packs: { x: { baseUrl: x.url, prices } }, ...config };
  writeFileSync(join(dir(), 'toolkeel.config.json'), JSON.stringify(whole));
  const env = { TOOLKEEL_X_ACCESS_TOKEN: x.credentials.accessToken };
  const client = await overStdio([], { cwd: dir(), env });
  clients.push(client);
  return client;
};
/** Runs an operator command, without a credential. */
const command = async (...args: readonly string[]): Promise<string> => {
  const env = { TOOLKEEL_DATA_DIR: join(dir(), 'data') };
  const runtime = fakeRuntime({ cwd: dir(), env });
  expect(await run(args, runtime)).toBe(0);
  return runtime.output();
};
interface Row {
  readonly kind: string;
  readonly tool?: string;
  readonly detail: string;
}
/** The costs in the audit rows of a kind. */
const audited = async (kind: string): Promise<readonly unknown[]> => {
  const lines = (await command('audit', 'export')).trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as Row)
    .filter((row) => row.kind === kind)
    .map(({ detail }) => (JSON.parse(detail) as { cost?: unknown }).cost);
};
const usd = (amount: number) => ({ amount, unit: 'USD' });
const rule = (action: string, more: object = {}) => ({
  profile: 'workflow',
  mode: 'autopilot',
  template: 'open',
  rules: [{ name: 'mine', when: { tool: 'x_*', ...more }, action }],
});
const created = (since: number) =>
  x.commits({ after: since }).filter(({ kind }) => kind === 'post.created');

describe('the cost of X calls', () => {
  it('is part of a dry run, by the configured prices', async () => {
    const client = await serve(rule('dry_run'));
    const before = x.commits().length;
    const costs = [
      ['x_post_tweet', { text: 'plain' }, 0.03],
      ['x_post_tweet', { text: 'see https://example.com' }, 0.5],
      ['x_post_thread', { tweets: ['one', 'two', 'https://example.com'] }, 0.56],
      ['x_bookmark_tweet', { tweet_id: x.landmarks.popularPostId }, 0.005],
    ] as const;
    for (const [tool, args, amount] of costs) {
      const { error } = await client.call(tool, { ...args });
      expect(error).toMatchObject({
        code: 'dry_run',
        details: { rule: 'mine', would_send: { tool, cost: usd(amount) } },
      });
    }
    expect(x.commits({ after: before })).toEqual([]);
  });

  it('is part of an approval, and changes with an edit', async () => {
    const client = await serve(rule('require_approval'));
    const before = x.commits().length;
    const { error } = await client.call('x_post_tweet', { text: 'may I?' });
    expect(error).toMatchObject({ code: 'approval_required', details: { cost: usd(0.03) } });
    const id = error?.operation_id ?? '';
    expect(await command('approvals', 'list')).toMatch(/x_post_tweet .* 0\.03 USD +pending/);
    expect(await command('approvals', 'show', id)).toMatch(/^cost +0\.03 USD$/m);
    const hash = (text: string) => /^hash +(\S+)$/m.exec(text)?.[1] ?? '';
    const shown = await command('approvals', 'show', id);
    const set = ['--set', 'text=see https://example.com', '--by', 'ana'];
    const edited = await command('approvals', 'edit', id, '--hash', hash(shown), ...set);
    expect(edited).toMatch(/^cost +0\.5 USD$/m);
    await command('approvals', 'approve', id, '--hash', hash(edited), '--by', 'ana');
    await expect.poll(() => created(before), { timeout: 30_000 }).toHaveLength(1);
    await expect
      .poll(() => command('operations', 'show', id), { timeout: 30_000 })
      .toMatch(/^state +succeeded$/m);
    expect(await audited('approval_requested')).toEqual([usd(0.03)]);
    expect(await audited('approval_edited')).toEqual([usd(0.5)]);
    expect(await audited('send')).toEqual([usd(0.5)]);
  });

  it('is audited once for each send, also of a thread, and not for a replay', async () => {
    const client = await serve({ profile: 'api' });
    const before = x.commits().length;
    for (const _again of [1, 2]) {
      expect(await client.call('x_post_tweet', { text: 'to be counted' })).toMatchObject({
        success: true,
      });
    }
    expect(await client.call('x_post_thread', { tweets: ['first', 'second'] })).toMatchObject({
      success: true,
    });
    expect(created(before)).toHaveLength(3);
    expect(await audited('send')).toEqual([usd(0.03), usd(0.06), undefined]);
  });

  it('can be tested by a rule', async () => {
    const expensive = { cost: { gt: 0.1, unit: 'USD' } };
    const client = await serve(rule('deny', expensive));
    expect(await client.call('x_post_tweet', { text: 'cheap' })).toMatchObject({ success: true });
    expect(await client.call('x_post_tweet', { text: 'https://example.com' })).toMatchObject({
      error: { code: 'policy_denied_user_rule', outcome: 'not_executed' },
    });
  });
});

it('a post is sent once, even if the server is killed between two calls', async () => {
  const first = await serve({ profile: 'api' });
  const before = x.commits().length;
  const posted = await first.call('x_post_tweet', { text: 'only once' });
  process.kill(first.pid ?? 0, 'SIGKILL');
  const second = await serve({ profile: 'api' });
  const again = await second.call('x_post_tweet', { text: 'only once' });
  expect(again).toMatchObject({ data: posted.data, meta: { idempotency: { replayed: true } } });
  expect(created(before)).toHaveLength(1);
});
