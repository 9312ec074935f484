import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from './frame.js';
import {
  createRig,
  text,
  writeTool,
  type Rig,
  type RigClient,
  type RigOptions,
} from './rig.fixture.js';

let rig: Rig;
const open = (options?: RigOptions): Rig => (rig = createRig(options));
afterEach(() => rig.close());

const args = { n: 1 };
const textsOf = ({ result = {} }: Message): readonly string[] =>
  (result['content'] as readonly { readonly text: string }[]).map((block) => block.text);
const errorOf = ({ result = {} }: Message) =>
  (result['structuredContent'] as { error: { code: string; operation_id: string } }).error;

/** Two equal calls are in flight; the first one is answered. Its result reaches the client. */
async function overlap(one: RigClient): Promise<readonly [Message, Promise<Message>]> {
  const [first, second] = [7, 8].map((id) =>
    one.ask('tools/call', { name: 'add', arguments: args }, id),
  );
  await expect.poll(() => rig.upstream.calls).toHaveLength(2);
  rig.upstream.send({ id: rig.upstream.calls[0]!.id, result: text('first') });
  return [await first!, second!];
}

describe('after two equal calls that overlapped', () => {
  it('a repeat of the cancelled one is not sent when the other was delivered', async () => {
    const { client, upstream } = open();
    const one = await client();
    expect(textsOf((await overlap(one))[0])).toEqual(['first']);
    one.send({ method: 'notifications/cancelled', params: { requestId: 8 } });
    const repeated = one.call('add', args);
    upstream.send({ id: upstream.calls[1]!.id, result: text('second') });
    expect(textsOf(await repeated)).toEqual([
      expect.stringMatching(/^Not executed again/),
      'second',
    ]);
    expect(upstream.calls).toHaveLength(2);
    // Both are delivered now.
    void one.call('add', args);
    await expect.poll(() => upstream.calls).toHaveLength(3);
  });

  it('a repeat of the one with an unknown outcome is not sent when the other was delivered', async () => {
    const { client, upstream, guard } = open();
    const one = await client();
    const [, second] = await overlap(one);
    upstream.crash();
    const { code, operation_id } = errorOf(await second);
    expect(code).toBe('outcome_unknown');
    expect(errorOf(await one.call('add', args))).toMatchObject({ code, operation_id });
    expect(upstream.calls).toHaveLength(2);
    await guard.journal.operations.resolve(operation_id, { outcome: 'not_executed', by: 'test' });
    void one.call('add', args);
    await expect.poll(() => upstream.calls).toHaveLength(3);
  });

  it('each approved operation answers one repeat, and its arguments are those of the call', async () => {
    const { client, upstream, guard } = open({
      settings: { template: 'safe' },
      onCall: (_call, fake) => text(String(fake.calls.length)),
    });
    const one = await client();
    const asked = await Promise.all([one.call('add', args), one.call('add', args)]);
    expect(new Set(asked.map((answer) => errorOf(answer).operation_id)).size).toBe(2);
    const { approvals } = guard.journal;
    const pending = await approvals.list();
    expect(pending.map((operation) => operation.arguments)).toEqual([args, args]);
    for (const { id, approval } of pending) {
      await approvals.approve(id, { by: 'test', hash: approval!.hash });
    }
    await expect.poll(() => upstream.calls).toMatchObject([{ args }, { args }]);
    const states = async () => (await guard.journal.operations.list()).map(({ state }) => state);
    await expect.poll(states).toEqual(['succeeded', 'succeeded']);
    const repeats = [await one.call('add', args), await one.call('add', args)];
    expect(new Set(repeats.map((answer) => textsOf(answer)[1]))).toEqual(new Set(['1', '2']));
    expect(upstream.calls).toHaveLength(2);
    // Both results are delivered: this is a third act, which needs a third approval.
    expect(errorOf(await one.call('add', args)).code).toBe('approval_required');
    expect((await approvals.list()).length).toBe(1);
  });
});

it('a call whose connection was lost before the tools were known is repeated, not separate', async () => {
  const { client, upstream } = open({
    onRequest: ({ method }) => (method === 'tools/list' ? 'silent' : undefined),
  });
  const one = await client();
  one.send({ id: 7, method: 'tools/call', params: { name: 'add', arguments: args } });
  one.session.detach(7);
  const listing = () => upstream.received.find(({ method }) => method === 'tools/list');
  await expect.poll(listing).toBeDefined();
  upstream.send({ id: listing()!.id!, result: { tools: [writeTool] } });
  await expect.poll(() => upstream.calls).toHaveLength(1);
  const repeated = one.call('add', args);
  upstream.send({ id: upstream.calls[0]!.id, result: text('first') });
  expect(textsOf(await repeated)).toEqual([expect.stringMatching(/^Not executed again/), 'first']);
  expect(upstream.calls).toHaveLength(1);
});
