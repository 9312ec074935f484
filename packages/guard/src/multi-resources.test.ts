import { afterEach, describe, expect, it } from 'vitest';
import { createMultiRig, fakeUpstream, type FakeUpstream, type Rig } from './rig.fixture.js';

type MultiRig = Omit<Rig, 'upstream'>;
let rig: MultiRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});
const open = (...given: Parameters<typeof createMultiRig>): MultiRig =>
  (rig = createMultiRig(...given));

describe('resources, prompts and log levels', () => {
  const withResources = (name: string, uris: readonly string[], template: string): FakeUpstream =>
    fakeUpstream({
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
      onRequest: ({ method, params = {} }, upstream) => {
        if (method === 'resources/list') return { resources: uris.map((uri) => ({ uri })) };
        if (method === 'resources/templates/list') {
          return { resourceTemplates: [{ uriTemplate: template }] };
        }
        if (method === 'resources/read') {
          const uri = String(params['uri']);
          if (uri.includes('hidden') && !uri.includes(name)) {
            const { id = null } = upstream.received.at(-1) ?? {};
            upstream.send({ id, error: { code: -32_002, message: 'not here' } });
            return 'silent';
          }
          return { contents: [{ uri, text: name }] };
        }
        if (method === 'prompts/list') return { prompts: [{ name: 'greet' }] };
        if (method === 'prompts/get')
          return { messages: [], description: `${name}:${String(params['name'])}` };
        if (method === 'completion/complete') {
          return { completion: { values: [name, JSON.stringify(params['ref'])] } };
        }
        return undefined;
      },
    });
  const both = () => ({
    a: withResources('a', ['demo://1'], 'file:///a/{path}'),
    b: withResources('b', ['demo://1', 'demo://2'], 'file:///b/{path}'),
  });

  it('are read from the upstream that listed them, or whose template fits, or that has them', async () => {
    const { a, b } = both();
    const one = await open({ a: { fake: a }, b: { fake: b } }).client();
    const read = async (uri: string): Promise<unknown> =>
      (await one.ask('resources/read', { uri })).result?.['contents'];
    expect(await read('demo://2')).toMatchObject([{ text: 'b' }]);
    expect(await read('demo://1')).toMatchObject([{ text: 'a' }]);
    expect(await read('file:///b/x/y')).toMatchObject([{ text: 'b' }]);
    expect(await read('hidden://b')).toMatchObject([{ text: 'b' }]);
    expect((await one.ask('resources/read', { uri: 'hidden://c' })).error?.message).toBe(
      'not here',
    );
    expect((await one.ask('resources/list')).result?.['resources']).toEqual([
      { uri: 'demo://1' },
      { uri: 'demo://2' },
    ]);
  });

  it('are read from the second upstream with the same template, if the first does not have them', async () => {
    const template = 'hidden://{path}';
    const [a, b] = [withResources('a', [], template), withResources('b', [], template)];
    const one = await open({ a: { fake: a }, b: { fake: b } }).client();
    const { result } = await one.ask('resources/read', { uri: 'hidden://b' });
    expect(result?.['contents']).toMatchObject([{ text: 'b' }]);
    expect((await one.ask('resources/read', {})).error?.code).toBe(-32_602);
  });

  it('are subscribed to at every upstream that may have them', async () => {
    const { a, b } = both();
    const one = await open({ a: { fake: a }, b: { fake: b } }).client();
    const subscriptions = ({ received }: FakeUpstream): unknown[] =>
      received.flatMap(({ method, params }) =>
        method === 'resources/subscribe' ? [params?.['uri']] : [],
      );
    expect((await one.ask('resources/subscribe', { uri: 'other://1' })).result).toEqual({});
    expect((await one.ask('resources/subscribe', { uri: 'demo://2' })).result).toEqual({});
    expect([subscriptions(a), subscriptions(b)]).toEqual([
      ['other://1'],
      ['other://1', 'demo://2'],
    ]);
  });

  it('have prefixes where they have names', async () => {
    const { a, b } = both();
    const one = await open({ a: { fake: a }, b: { fake: b } }).client();
    const { result } = await one.ask('prompts/list');
    expect(result?.['prompts']).toEqual([{ name: 'a_greet' }, { name: 'b_greet' }]);
    expect((await one.ask('prompts/get', { name: 'b_greet' })).result).toMatchObject({
      description: 'b:greet',
    });
    const ref = { type: 'ref/prompt', name: 'b_greet' };
    const argument = { name: 'x', value: '' };
    expect((await one.ask('completion/complete', { ref, argument })).result).toMatchObject({
      completion: { values: ['b', JSON.stringify({ ...ref, name: 'greet' })] },
    });
    const uri = { type: 'ref/resource', uri: 'file:///a/{path}' };
    expect((await one.ask('completion/complete', { ref: uri, argument })).result).toMatchObject({
      completion: { values: ['a', JSON.stringify(uri)] },
    });
  });

  it('reach all upstreams that log', async () => {
    const { a, b } = both();
    const one = await open({ a: { fake: a }, b: { fake: b } }).client();
    expect((await one.ask('logging/setLevel', { level: 'debug' })).result).toEqual({});
    const levels = ({ received }: FakeUpstream): unknown[] =>
      received.filter(({ method }) => method === 'logging/setLevel').map(({ params }) => params);
    await expect
      .poll(() => [levels(a), levels(b)])
      .toEqual([[{ level: 'debug' }], [{ level: 'debug' }]]);
  });
});
