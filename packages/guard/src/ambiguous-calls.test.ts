import { afterEach, describe, expect, it } from 'vitest';
import { ambiguousMember } from './json-text.js';
import type { Message } from './frame.js';
import { createRig, text, type Rig, type RigOptions } from './rig.fixture.js';

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});
const open = (options: RigOptions = {}) =>
  (rig = createRig({ onCall: () => text('done'), ...options })).client();

describe('a call without an id', () => {
  it('reaches no tool, because no rule would apply to it', async () => {
    const rules = [{ name: 'no', when: { tool: 'add' }, action: 'deny' }];
    const client = await open({ settings: { rules } });
    client.send({ method: 'tools/call', params: { name: 'add', arguments: { n: 1 } } });
    expect(JSON.stringify(await client.call('add', { n: 1 }))).toMatch(/policy_denied_user_rule/);
    expect(rig!.upstream.received.map(({ method }) => method)).not.toContain('tools/call');
    expect(rig!.logs().map(({ event }) => event)).toContain('guard_call_without_id');
  });
});

describe('a mutation that the server could read differently', () => {
  const when = [{ arguments: { method: 'get' }, effect: 'read' }];
  it.each([
    ['an argument twice', '{"name":"add","arguments":{"amount":1000,"amount":1}}'],
    ['an argument twice, once escaped', '{"name":"add","arguments":{"amoun\\u0074":9,"amount":1}}'],
    ['a nested member twice', '{"name":"add","arguments":{"a":[{"b":1,"b":2}]}}'],
    ['two names of tools', '{"name":"get","name":"add","arguments":{}}'],
    [
      'two arguments that decide its effect',
      '{"name":"add","arguments":{"method":"delete","method":"get"}}',
    ],
    ['a prototype', '{"name":"add","arguments":{"__proto__":{"x":1}}}'],
  ])('because it has %s is refused, and nothing is sent', async (_, params) => {
    const client = await open({ config: { tools: { add: { when } } } });
    // Before the tools are known, and after.
    for (const line of [
      await client.askText('tools/call', params),
      await client.askText('tools/call', params),
    ]) {
      expect(line).toMatch(/"code":"invalid_input"/);
      expect(line).toMatch(/"outcome":"not_executed"/);
    }
    expect(rig!.upstream.calls).toEqual([]);
    expect(await rig!.guard.journal.operations.list()).toEqual([]);
  });

  it.each([
    ['a lone surrogate', String.raw`"\ud83d"`],
    ['more levels than canonical JSON may have', '['.repeat(5000) + ']'.repeat(5000)],
  ])('or that has no identity, because of %s, is refused with a typed error', async (_, value) => {
    const client = await open();
    const line = await client.askText('tools/call', `{"name":"add","arguments":{"a":${value}}}`);
    expect(line).toMatch(/"code":"validation_error"/);
    expect(rig!.upstream.calls).toEqual([]);
  });

  it('is sent if names repeat only in different objects', async () => {
    const client = await open();
    const params =
      '{"name":"add","arguments":{"a":{"name":1},"b":[{"name":1},{"name":"a:\\"a\\""}]}}';
    expect(await client.askText('tools/call', params)).toMatch(/done/);
  });
});

describe('a message that the server could read as another call', () => {
  it.each([
    ['two names of tools, the last one of a read', '{"name":"add","name":"get"}'],
    ['a name in another case', '{"name":"get","Name":"add"}'],
    ['a name that is escaped', '{"n\\u0061me":"add","name":"get"}'],
    ['arguments in another case', '{"name":"get","argument\u017f":{"a":1}}'],
  ])('because it has %s is refused, also if it is a read', async (_, params) => {
    const client = await open();
    for (const line of [
      await client.askText('tools/call', params),
      await client.askText('tools/call', params),
    ]) {
      expect(line).toMatch(/"code":"invalid_input"/);
    }
    expect(rig!.upstream.calls).toEqual([]);
  });

  it.each([
    '"method":"tools/call","method":"ping"',
    '"Method":"tools/call","method":"ping"',
    '"params":{"name":"add"},"method":"ping","params":{}',
  ])('because of its method or params is refused: %s', async (members) => {
    const client = await open();
    const line = `{"jsonrpc":"2.0","id":"x",${members}}`;
    const answered = client.next(({ id }) => id === 'x');
    client.session.receive({ message: JSON.parse(line) as Message, line });
    expect(await answered).toMatchObject({ error: { code: -32_600 } });
    expect(rig!.upstream.received.map(({ method }) => method)).not.toContain('ping');
  });

  it('is passed on if its arguments have such names', async () => {
    const client = await open();
    const params = '{"name":"get","arguments":{"name":1,"Name":2,"method":"x","Method":"y"}}';
    expect(await client.askText('tools/call', params)).toMatch(/done/);
  });
});

it('an argument in another case does not make a mutation a read', async () => {
  const when = [{ arguments: { method: 'get' }, effect: 'read' }];
  const client = await open({ config: { tools: { add: { when } } } });
  await client.call('add', { method: 'get' });
  expect(await rig!.guard.journal.operations.list()).toEqual([]);
  await client.call('add', { method: 'get', Method: 'delete' });
  expect(await rig!.guard.journal.operations.list()).toHaveLength(1);
});

it.each([
  ['{"a":1,"b":{"a":2}}', undefined],
  ['[{"a":1},{"a":1}]', undefined],
  ['{"a":"{\\"a\\":1,\\"a\\":2}"}', undefined],
  ['{"a":{"b":1},"c":{"b":1,"b":1}}', 'b'],
  ['{"a":{},"a":1}', 'a'],
  ['{"\\u0061":{},"a":1}', 'a'],
  ['{"x":{"__proto__":1}}', '__proto__'],
])('the ambiguous member of %s', (json, expected) => {
  expect(ambiguousMember(json)).toBe(expected);
});
