import { afterEach, expect, it } from 'vitest';
import type { Message } from './frame.js';
import { createRig, text, type Rig, type RigOptions } from './rig.fixture.js';

let rig: Rig;
const open = (options?: RigOptions): Rig => (rig = createRig(options));
afterEach(() => rig.close());

const tool = {
  name: 'get',
  annotations: { readOnlyHint: true },
  inputSchema: {
    type: 'object',
    properties: { q: { type: 'string' }, page: { type: 'integer' } },
    required: ['q'],
  },
};
const errorOf = ({ result }: Message) =>
  (result?.['structuredContent'] as { error: { code: string } } | undefined)?.error.code;
const callsIn = async (): Promise<readonly string[]> =>
  (await rig.guard.metrics()).text
    .split('\n')
    .filter((line) => line.startsWith('toolkeel_tool_calls_total{'));

it('counts every read once, in the metrics and in the limits of the policy', async () => {
  const limit = { when: { effect: 'read' }, perHour: 2 };
  const { client, upstream } = open({
    tools: [tool],
    onCall: () => text('ok'),
    settings: { journal: { url: 'memory:' }, limits: { reads: limit } },
  });
  const one = await client();
  const codes = [];
  for (const q of ['a', 'b', 'c']) codes.push(errorOf(await one.call('get', { q })));
  expect(codes).toEqual([undefined, undefined, 'policy_denied_rate_limited']);
  expect(upstream.calls).toHaveLength(2);
  expect(await callsIn()).toEqual([
    'toolkeel_tool_calls_total{tool_name="get",code="ok"} 2',
    'toolkeel_tool_calls_total{tool_name="get",code="policy_denied_rate_limited"} 1',
  ]);
});

it('denies a read by its arguments, and sends nothing', async () => {
  const rule = {
    name: 'private',
    when: { tool: 'get', effect: 'read', 'args.q': { contains: 'private' } },
    action: 'deny',
  };
  const { client, upstream } = open({
    tools: [tool],
    onCall: () => text('ok'),
    settings: { journal: { url: 'memory:' }, rules: [rule] },
  });
  const one = await client();
  const codes = [];
  for (const q of ['public', 'private', 'private', 'public'])
    codes.push(errorOf(await one.call('get', { q })));
  const denied = 'policy_denied_user_rule';
  expect(codes).toEqual([undefined, denied, denied, undefined]);
  expect(upstream.calls).toHaveLength(2);
});

it('treats null as absent and refuses invalid Unicode, as for every other call', async () => {
  const { client, upstream } = open({ tools: [tool], onCall: () => text('ok') });
  const one = await client();
  expect((await one.call('get', { q: 'a', page: null })).result).toEqual(text('ok'));
  expect(errorOf(await one.call('get', { q: '\ud800' }))).toBe('validation_error');
  expect(errorOf(await one.call('get', { q: 1 }))).toBe('validation_error');
  expect((await one.call('get', { q: '\u{1f600}' })).result).toEqual(text('ok'));
  expect(upstream.calls).toHaveLength(2);
});

it('does not repeat a read that was cancelled between two attempts', async () => {
  const busy = { isError: true, content: [{ type: 'text', text: 'HTTP 503' }] };
  const { client, upstream } = open({
    tools: [tool],
    onCall: ({ id }, fake) => {
      fake.send({ id, result: busy });
      one.send({ method: 'notifications/cancelled', params: { requestId: id } });
    },
  });
  const one = await client();
  one.send({ id: 'x', method: 'tools/call', params: { name: 'get', arguments: { q: 'a' } } });
  await expect
    .poll(callsIn)
    .toEqual(['toolkeel_tool_calls_total{tool_name="get",code="cancelled"} 1']);
  expect(upstream.calls).toHaveLength(1);
  expect(one.received.filter(({ id }) => id === 'x')).toEqual([]);
});

it('ends reads in flight when the guard closes', async () => {
  const { client, upstream, guard } = open({ tools: [tool] });
  const one = await client();
  void one.call('get', { q: 'a' });
  await expect.poll(() => upstream.calls).toHaveLength(1);
  await guard.close();
  expect(await callsIn()).toEqual([
    'toolkeel_tool_calls_total{tool_name="get",code="cancelled"} 1',
  ]);
});
