import { afterEach, describe, expect, it } from 'vitest';
import {
  createMultiRig,
  createRig,
  fakeUpstream,
  readTool,
  text,
  writeTool,
  type FakeUpstream,
  type Rig,
  type RigOptions,
} from './rig.fixture.js';

type MultiRig = Omit<Rig, 'upstream'>;
let rig: MultiRig | undefined;
afterEach(() => rig?.close());
const open = (options: RigOptions): Rig => {
  const opened = createRig(options);
  rig = opened;
  return opened;
};

const [ONE, TWO] = ['1790000000000000001', '1790000000000000002'];
const post = (tool: string, id: string): string =>
  `{"name":"${tool}","arguments":{"post":${id},"f":1.0,"u":"\\u00e9"}}`;
/** Answers a call with a result that is given as text. */
const answering =
  (result: string): NonNullable<RigOptions['onCall']> =>
  ({ id }, upstream) =>
    upstream.sendLine(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
const echo: RigOptions['onCall'] = (_call, upstream) => text(upstream.lines.at(-1)!);
/** The posts that the calls at an upstream name, as they are written. */
const posts = ({ lines }: FakeUpstream): readonly (string | undefined)[] =>
  lines.map((line) => /"post":(\d+)/.exec(line)?.[1]);
const refused = (answer: string): unknown =>
  (JSON.parse(answer) as { result: { structuredContent: { error: unknown } } }).result
    .structuredContent.error;
const REFUSED = {
  code: 'invalid_input',
  outcome: 'not_executed',
  details: { field: 'post' },
  message: expect.stringContaining('Pass it as a string') as string,
};

describe('a number that JavaScript cannot hold', () => {
  it('reaches one of several servers as the client wrote it', async () => {
    const s = fakeUpstream({ onCall: echo, capabilities: { tools: {}, prompts: {} } });
    const multi = createMultiRig({ s: { fake: s }, t: { fake: fakeUpstream() } });
    rig = multi;
    const one = await multi.client();
    await one.askText('tools/call', post('s_get', ONE));
    await one.askText('prompts/get', `{"name":"s_p","arguments":{"post":${TWO},"f":1.0}}`);
    expect(s.lines).toEqual([
      expect.stringContaining(`"params":${post('get', ONE)}`),
      expect.stringContaining(`"params":{"name":"p","arguments":{"post":${TWO},"f":1.0}}`),
    ]);
  });

  it('reaches the server unchanged in every attempt of a read', async () => {
    const { client, upstream } = open({
      config: { policy: { initialBackoffMs: 1, maxBackoffMs: 1 } },
      onCall: (call, fake) =>
        fake.calls.length === 1
          ? { ...text('503 Service Unavailable'), isError: true }
          : answering('{"content":[],"n":12345678901234567890}')(call, fake),
    });
    const one = await client();
    const answer = await one.askText('tools/call', post('get', ONE), 'a');
    expect(upstream.lines).toHaveLength(2);
    for (const line of upstream.lines) expect(line).toContain(`"params":${post('get', ONE)}`);
    expect(answer).toContain('"id":"a"');
    expect(answer).toContain('"n":12345678901234567890');
  });

  it('is not taken for another one by the cache', async () => {
    const { client, upstream } = open({
      config: { tools: { get: { effect: 'read', cacheSecs: 60 } } },
      onCall: echo,
    });
    const one = await client();
    await one.askText('tools/call', post('get', ONE));
    expect(await one.askText('tools/call', post('get', TWO))).toContain(TWO);
    expect(posts(upstream)).toEqual([ONE, TWO]);
  });

  it.each([
    ['a write', {}],
    ['a write with a key of its own', { tools: { add: { key: 'p:{post}' } } }],
    ['a write with a key for the server', { tools: { add: { idempotencyArgument: 'rid' } } }],
    ['an idempotent write', { tools: { add: { effect: 'idempotent' } } }],
  ] as const)('is refused in the arguments of %s, and nothing is sent', async (_, config) => {
    const { client, upstream, guard } = open({ config, onCall: echo });
    const one = await client();
    for (const id of [ONE, TWO]) {
      expect(refused(await one.askText('tools/call', post('add', id)))).toMatchObject(REFUSED);
    }
    expect(upstream.lines).toEqual([]);
    expect(await guard.journal.operations.list()).toEqual([]);
    // As a string, or a number that JavaScript can hold, it is an ordinary call.
    await one.askText('tools/call', post('add', `"${ONE}"`));
    await one.askText('tools/call', post('add', '1790000000000000000'));
    expect(upstream.lines).toHaveLength(2);
    expect(upstream.lines[0]).toContain(`"post":"${ONE}","f":1.0,"u":"\\u00e9"`);
  });

  it('is refused before an approval is asked for', async () => {
    const { client, upstream, guard } = open({
      settings: { rules: [{ name: 'w', when: { tool: 'add' }, action: 'require_approval' }] },
      onCall: echo,
    });
    const one = await client();
    expect(refused(await one.askText('tools/call', post('add', ONE)))).toMatchObject(REFUSED);
    expect(await guard.journal.approvals.list()).toEqual([]);
    expect(upstream.lines).toEqual([]);
  });

  it('and escapes and forms of numbers stay in the answer of a write', async () => {
    const result = `{"content":[{"type":"text","text":"\\u00e9"}],"structuredContent":{"id":12345678901234567890,"x":1.0}}`;
    const { client } = open({ onCall: answering(result) });
    const one = await client();
    const answer = await one.askText('tools/call', '{"name":"add","arguments":{"n":1}}');
    expect(answer).toContain(`"result":${result.slice(0, -1)},"_meta":{`);
    expect(JSON.parse(answer)).toMatchObject({
      result: { _meta: { 'dev.toolkeel/guard': { idempotency: { replayed: false } } } },
    });
  });

  it('stays in the answer that a repeat of a write gets', async () => {
    const { client, upstream } = open({
      onCall: answering('{"content":[{"type":"text","text":"ok"}],"id":12345678901234567890}'),
    });
    const one = await client();
    const params =
      '{"name":"add","arguments":{"n":1},"_meta":{"dev.toolkeel/idempotency-key":"key-0123456789abc"}}';
    await one.askText('tools/call', params);
    const again = await one.askText('tools/call', params);
    expect(upstream.calls).toHaveLength(1);
    expect(again).toContain('"id":12345678901234567890');
    expect(again).toMatch(
      /"content":\[\{[^}]*Not executed again[^}]*\},\{"type":"text","text":"ok"\}/,
    );
  });

  it.each([
    ['in an envelope', { envelope: true }],
    ['in a result that is cut', { maxResultBytes: 256 }],
  ])('stays %s, also in its text', async (_, config) => {
    const long = 'x'.repeat(300);
    const { client } = open({
      config,
      onCall: answering(`{"content":[],"structuredContent":{"id":${ONE},"long":"${long}"}}`),
    });
    const one = await client();
    const answer = await one.askText('tools/call', '{"name":"get","arguments":{}}');
    expect(answer).not.toContain('1790000000000000000');
    expect(answer).toContain(`\\"id\\":${ONE}`);
  });

  it.each([
    ['as structured content', `{"content":[],"structuredContent":{"items":[{"post":${ONE}}]}}`],
    ['as text', `{"content":[{"type":"text","text":"[{\\"post\\":${ONE}}]"}]}`],
  ])('is no match for a lost write, found %s', async (_, found) => {
    const { client } = open({
      config: {
        tools: {
          add: {
            reconcile: {
              tool: 'get',
              arguments: {},
              match: { post: '{post}' },
              authoritative: true,
            },
          },
        },
      },
      tools: [readTool, writeTool],
      onCall: (call, fake) => (call.name === 'add' ? fake.crash() : answering(found)(call, fake)),
    });
    const one = await client();
    const params = '{"name":"add","arguments":{"post":1790000000000000000}}';
    expect(refused(await one.askText('tools/call', params))).toMatchObject({
      code: 'outcome_unknown',
    });
  });
});

describe('a number of a schema that JavaScript cannot hold', () => {
  const schema = `{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807,"default":1.0}}}`;
  const lists = (name: string): FakeUpstream =>
    fakeUpstream({
      capabilities: { tools: {}, resources: {} },
      onRequest: ({ id, method }, fake) => {
        const results: Readonly<Record<string, string>> = {
          'tools/list': `{"tools":[{"name":"${name}","inputSchema":${schema}},{"name":"other","inputSchema":{"type":"object"}}]}`,
          'resources/list': '{"resources":[]}',
          'resources/read': `{"contents":[{"uri":"x:1","text":"t"}],"_meta":{"n":${ONE}}}`,
        };
        const result = results[method ?? ''];
        if (result === undefined) return undefined;
        fake.sendLine(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
        return 'silent';
      },
    });

  it('stays as it was written in the list of several servers, and so does a result that is looked for', async () => {
    const opened = createMultiRig({ a: { fake: lists('one') }, b: { fake: lists('two') } });
    rig = opened;
    const client = await opened.client();
    const line = await client.askText('tools/list', '{}');
    expect(line).toContain(`{"name":"a_one","inputSchema":${schema}}`);
    expect(line).toContain(`{"name":"b_two","inputSchema":${schema}}`);
    expect(line).toContain('{"name":"b_other","inputSchema":{"type":"object"}}');
    expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(await client.askText('resources/read', '{"uri":"x:1"}')).toContain(`"n":${ONE}`);
  });
});
