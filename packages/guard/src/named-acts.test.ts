import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Message } from './frame.js';
import { createRig, text, type Rig, type RigOptions } from './rig.fixture.js';

let rig: Rig | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await rig?.close();
  rig = undefined;
});
const open = (options: RigOptions) => (rig = createRig(options)).client();
const codeOf = ({ result }: Message) =>
  (result?.['structuredContent'] as { error?: { code?: string } } | undefined)?.error?.code;
const keyed = (key: string) => ({ 'dev.toolkeel/idempotency-key': key });
const AGAIN = { 'dev.toolkeel/allow-duplicate': true };
const HOUR = 3_600_000;

describe('a call whose act is named by a key template', () => {
  const config = { tools: { add: { key: 'refund:{payment}' } } };

  it.each(['once', 'idempotent'])('is the same act after its delivery, too: %s', async (effect) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const tools = { add: { ...config.tools.add, effect } };
    const client = await open({ config: { tools }, onCall: () => text('done') });
    await client.call('add', { payment: 'p1', note: 'sorry' });
    vi.setSystemTime(Date.now() + HOUR);
    const reworded = await client.call('add', { payment: 'p1', note: 'our apologies' });
    expect(JSON.stringify(reworded)).toMatch(/Not executed again/);
    await client.call('add', { payment: 'p2', note: 'sorry' });
    expect(rig!.upstream.calls.map(({ args }) => args['payment'])).toEqual(['p1', 'p2']);
  });

  it('is named by the settings of the journal as well', async () => {
    const settings = { journal: { url: 'memory:', keys: { add: 'refund:{payment}' } } };
    const client = await open({ settings, onCall: () => text('done') });
    await client.call('add', { payment: 'p1', note: 'sorry' });
    const reworded = await client.call('add', { payment: 'p1', note: 'our apologies' });
    expect(JSON.stringify(reworded)).toMatch(/Not executed again/);
    expect(rig!.upstream.calls).toHaveLength(1);
  });

  it('is executed again if that is said', async () => {
    const client = await open({ config, onCall: () => text('done') });
    await client.call('add', { payment: 'p1' });
    const again = await client.call('add', { payment: 'p1' }, { _meta: AGAIN });
    expect(JSON.stringify(again)).not.toMatch(/Not executed again/);
    expect(rig!.upstream.calls).toHaveLength(2);
  });

  it('is executed again while its outcome is unknown only if that is said', async () => {
    const client = await open({
      config,
      onCall: (_call, fake) => (fake.calls.length === 1 ? fake.crash() : text('done')),
    });
    expect(codeOf(await client.call('add', { payment: 'p1' }))).toBe('outcome_unknown');
    expect(codeOf(await client.call('add', { payment: 'p1', n: 1 }))).toBe('outcome_unknown');
    expect((await client.call('add', { payment: 'p1' }, { _meta: AGAIN })).result).toMatchObject(
      text('done'),
    );
    expect(rig!.upstream.calls).toHaveLength(2);
  });

  it('is a separate call, like those of other tools, if it lacks an argument of the template', async () => {
    const client = await open({ config, onCall: () => text('done') });
    await Promise.all([client.call('add', { note: 'a' }), client.call('add', { note: 'a' })]);
    await client.call('add', { note: 'a' });
    expect(rig!.upstream.calls).toHaveLength(3);
  });
});

describe('a second act with a key of its own', () => {
  it('is executed if the first has an unknown outcome, as the refusal advises', async () => {
    const client = await open({
      onCall: (_call, fake) => (fake.calls.length === 1 ? fake.crash() : text('done')),
    });
    await client.call('add', { n: 1 }, { _meta: keyed('first-key-of-the-act') });
    const other = keyed('second-key-of-the-act');
    const refused = await client.call('add', { n: 1 }, { _meta: other });
    expect(codeOf(refused)).toBe('idempotency_conflict');
    expect(JSON.stringify(refused)).toMatch(/allow-duplicate: true with a new idempotency key/);
    const meant = await client.call('add', { n: 1 }, { _meta: { ...other, ...AGAIN } });
    expect(meant.result).toMatchObject(text('done'));
    expect(rig!.upstream.calls).toHaveLength(2);
  });
});
