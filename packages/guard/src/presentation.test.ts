import { envelopeSchema } from '@toolkeel/contract';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { shorten } from './diet.js';
import type { Message } from './frame.js';
import { KeptResults } from './kept-results.js';
import { cutAt } from './result-budget.js';
import { createRig, readTool, text, writeTool, type Rig, type RigOptions } from './rig.fixture.js';

type Members = Readonly<Record<string, unknown>>;
let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});
const open = (options: RigOptions) => {
  rig = createRig(options);
  return rig.client();
};
const membersIn = ({ result = {} }: Message, name: string) => result[name] as readonly Members[];
const blocksOf = (message: Message) => membersIn(message, 'content');
const long = Array.from({ length: 200 }, (_, line) => `line ${line} of the text`).join('\n');

describe('a cut', () => {
  it('never exceeds the bytes, never splits a character, and prefers lines', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.nat(64), (given, bytes) => {
        const at = cutAt(given, bytes);
        const head = given.slice(0, at);
        expect(Buffer.byteLength(head)).toBeLessThanOrEqual(bytes);
        expect(head).not.toMatch(/\p{Cs}/u);
        if (Buffer.byteLength(given) <= bytes) expect(at).toBe(given.length);
      }),
    );
    expect('one line\ntwo'.slice(0, cutAt('one line\ntwo', 11))).toBe('one line\n');
    expect('one two three'.slice(0, cutAt('one two three', 9))).toBe('one two ');
  });

  it('keeps all of the text in its pages', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }), (given) => {
        const kept = new KeptResults();
        const owner = {};
        const { uri = '' } = kept.keep(owner, given, 16) ?? {};
        let [at, all]: [string | undefined, string] = [uri, ''];
        while (at !== undefined) {
          const page = kept.read(owner, at);
          all += page?.text ?? '';
          at = page?.next;
        }
        expect(all).toBe(given);
      }),
    );
  });
});

describe('kept results', () => {
  it('expire, are bounded, and are for their own client only', () => {
    let now = 0;
    const kept = new KeptResults(() => now, 100);
    const [one, two] = [{}, {}];
    const first = kept.keep(one, 'a'.repeat(60), 50)?.uri ?? '';
    expect(kept.read(one, first)).toMatchObject({ number: 1, pages: 2 });
    expect(kept.read(two, first)).toBeUndefined();
    const second = kept.keep(two, 'b'.repeat(60), 50)?.uri ?? '';
    expect(kept.read(one, first)).toBeUndefined();
    expect(kept.read(two, second)).toBeDefined();
    expect(kept.keep(one, 'c'.repeat(101), 50)).toBeUndefined();
    now += 15 * 60_000;
    expect(kept.read(two, second)).toBeUndefined();
  });
});

describe('a budget of bytes', () => {
  const config = { maxResultBytes: 1000 };
  const onCall = () => text(long);

  it('cuts a result at a line and serves the rest as a resource, without that capability', async () => {
    const client = await open({ config, onCall });
    const result = await client.call('get');
    const [shown, note, link] = blocksOf(result);
    expect(Buffer.byteLength(String(shown?.['text']))).toBeLessThanOrEqual(1000);
    expect(String(shown?.['text'])).toMatch(/of the text\n$/);
    expect(String(note?.['text'])).toContain('The guard cut this result');
    expect(link).toMatchObject({ type: 'resource_link', mimeType: 'text/plain' });
    let uri = link?.['uri'] as string | undefined;
    let all = String(shown?.['text']);
    while (uri !== undefined) {
      const page = await client.ask('resources/read', { uri });
      const [first, next] = membersIn(page, 'contents');
      all += String(first?.['text']);
      uri = next?.['uri'] as string | undefined;
    }
    expect(all).toBe(long);
    expect((await client.ask('resources/list')).result).toEqual({ resources: [] });
    const methods = rig!.upstream.received.map(({ method }) => method);
    expect(methods).not.toContain('resources/read');
  });

  it('declares resources in the handshake only if the server has none', async () => {
    const client = await open({ config });
    expect(client.received[0]?.result).toMatchObject({ capabilities: { resources: {} } });
    await rig!.close();
    const capabilities = { tools: {}, resources: { subscribe: true } };
    const other = await open({ config, capabilities });
    expect(other.received[0]?.result).toMatchObject({ capabilities });
    await other.ask('resources/list');
    expect(rig!.upstream.received.map(({ method }) => method)).toContain('resources/list');
  });

  it('does not show a rest to another client', async () => {
    const client = await open({ config, onCall });
    const [, , link] = blocksOf(await client.call('get'));
    const other = await rig!.client();
    const { error } = await other.ask('resources/read', { uri: link?.['uri'] });
    expect(error).toMatchObject({ code: -32_602 });
    expect((await client.ask('resources/read', { uri: link?.['uri'] })).result).toBeDefined();
  });

  it('leaves small results, images and other tools alone', async () => {
    const image = { type: 'image', data: 'A'.repeat(5000), mimeType: 'image/png' };
    const client = await open({
      config: { tools: { get: { maxResultBytes: 1000 } } },
      onCall: ({ name, args }) =>
        args['image'] === true ? { content: [image] } : text(name === 'add' ? long : 'short'),
    });
    expect(blocksOf(await client.call('get'))).toEqual([{ type: 'text', text: 'short' }]);
    expect(blocksOf(await client.call('get', { image: true }))).toEqual([image]);
    expect(blocksOf(await client.call('add'))).toEqual([{ type: 'text', text: long }]);
  });

  it('moves structured content that is too large into the text, and lists no output schema', async () => {
    const structuredContent = { rows: Array.from({ length: 300 }, (_, row) => ({ row })) };
    const client = await open({
      config,
      tools: [{ ...readTool, outputSchema: { type: 'object' } }],
      onCall: () => ({ content: [], structuredContent }),
    });
    const listing = await client.ask('tools/list');
    expect(membersIn(listing, 'tools')[0]).not.toHaveProperty('outputSchema');
    const cut = await client.call('get');
    expect(cut.result).not.toHaveProperty('structuredContent');
    expect(String(blocksOf(cut)[0]?.['text'])).toMatch(/^{"rows":/);
  });

  it.each([
    ['is the main member', { content: 'a"'.repeat(400) }, 'a"'.repeat(400), ['text']],
    [
      'is a small member',
      { status: 'ok', rows: 'x'.repeat(2000) },
      'ok',
      ['text', 'text', 'text', 'resource_link'],
    ],
  ])(
    'keeps structured content as text once if the text %s',
    async (_, structured, given, types) => {
      const onCall = () => ({ ...text(given), structuredContent: structured });
      const client = await open({ config, onCall });
      const { result } = await client.call('get');
      expect(result).not.toHaveProperty('structuredContent');
      expect(
        (result?.['content'] as readonly Members[] | undefined)?.map(({ type }) => type),
      ).toEqual(types);
    },
  );

  it('sends no link to a client of a revision without links', async () => {
    const client = await open({
      config,
      onCall,
      onRequest: ({ method }) =>
        method === 'initialize'
          ? { protocolVersion: '2025-03-26', capabilities: { tools: {} } }
          : undefined,
    });
    const blocks = blocksOf(await client.call('get'));
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'text']);
    expect(String(blocks[1]?.['text'])).toContain('toolkeel://results/');
  });
});

describe('envelopes', () => {
  const config = { envelope: true };
  const envelopeOf = ({ result }: Message): Members => {
    const structured = result?.['structuredContent'] as Members;
    const parsed = envelopeSchema.safeParse(structured);
    if (!parsed.success) throw new Error(`${JSON.stringify(result)}: ${parsed.error.message}`);
    const [first] = blocksOf({ jsonrpc: '2.0', ...(result && { result }) });
    expect(JSON.parse(String(first?.['text']))).toEqual(structured);
    expect(result?.['isError'] === true).toBe(structured['success'] !== true);
    return structured;
  };

  it('wrap results, with content that is no text beside them', async () => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const client = await open({
      config,
      onCall: () => ({ content: [{ type: 'text', text: 'a' }, image], _meta: { own: 1 } }),
    });
    const answer = await client.call('get');
    expect(envelopeOf(answer)).toMatchObject({
      success: true,
      data: { content: [{ type: 'text', text: 'a' }] },
      meta: { retry_count: 0 },
    });
    expect(blocksOf(answer)[1]).toEqual(image);
    expect(answer.result?.['_meta']).toMatchObject({ own: 1 });
  });

  it('have the structured content of a typed tool as data, if it matches the schema', async () => {
    const outputSchema = {
      type: 'object',
      properties: { n: { $ref: '#/$defs/count' } },
      required: ['n'],
      $defs: { count: { type: 'integer' } },
    };
    const client = await open({
      config,
      tools: [{ ...readTool, outputSchema }],
      onCall: ({ args }) => ({ content: [], structuredContent: args['give'] as Members }),
    });
    expect(envelopeOf(await client.call('get', { give: { n: 1 } }))).toMatchObject({
      data: { n: 1 },
    });
    expect(envelopeOf(await client.call('get', { give: { n: 'x' } }))).toMatchObject({
      error: { code: 'serialization_error', details: { field: 'n' } },
    });
  });

  it.each([
    ['get', 'no such file', { code: 'upstream_rejected', message: 'no such file' }],
    ['get', '{"status":404}', { code: 'not_found' }],
    ['get', 'rate limit exceeded', { code: 'rate_limited', retryable: true }],
    ['add', 'no such file', { code: 'upstream_rejected', outcome: 'unknown' }],
  ])('of %s with the error %s', async (tool, message, error) => {
    const client = await open({ config, onCall: () => ({ ...text(message), isError: true }) });
    expect(envelopeOf(await client.call(tool))).toMatchObject({ success: false, error });
  });

  it('take the place of JSON-RPC errors of a listed tool, but not of the protocol', async () => {
    let code = -32_603;
    const client = await open({
      config,
      tools: [readTool, writeTool],
      onCall: ({ id }, upstream) => {
        upstream.send({ id, error: { code, message: 'it broke' } });
        return undefined;
      },
    });
    expect(envelopeOf(await client.call('get'))).toMatchObject({
      error: { code: 'upstream_rejected', message: 'it broke' },
    });
    code = -32_042;
    expect((await client.call('get')).error).toMatchObject({ code });
    code = -32_602;
    expect((await client.call('no_such_tool')).error).toMatchObject({ code });
  });

  it('are passed on if the server speaks the contract itself', async () => {
    const meta = { tool_version: '1', elapsed_ms: 1, retry_count: 0, correlation_id: 'c' };
    const own = { success: true, data: 1, meta };
    const outputSchema = { type: 'object', required: ['success', 'data', 'meta'], oneOf: [{}] };
    const client = await open({
      config,
      tools: [{ ...readTool, outputSchema }],
      onCall: () => ({ ...text(JSON.stringify(own)), structuredContent: own }),
    });
    const { result } = await client.ask('tools/list');
    expect(result).toMatchObject({ tools: [{ outputSchema }] });
    expect(envelopeOf(await client.call('get'))).toEqual(own);
  });

  it('are combined with a budget', async () => {
    const client = await open({
      config: { ...config, maxResultBytes: 1000 },
      onCall: () => text(long),
    });
    const answer = await client.call('get');
    const { content } = envelopeOf(answer)['data'] as { content: readonly Members[] };
    expect(content.map(({ type }) => type)).toEqual(['text', 'text', 'resource_link']);
    expect(blocksOf(answer).map(({ type }) => type)).toEqual(['text', 'resource_link']);
  });
});

describe('a smaller listing', () => {
  const tools = [
    { ...readTool, description: 'Gets it. Then says more about it than needed.' },
    { ...writeTool, description: 'Adds it.', outputSchema: { type: 'object' } },
    { name: 'get_secret', inputSchema: { type: 'object' } },
  ];
  const listing = async (config: Members) => {
    const client = await open({ tools, config, onCall: () => text('done') });
    const { result } = await client.ask('tools/list');
    return { client, listed: result?.['tools'] as readonly Members[] };
  };

  it('has no excluded tools, which cannot be called either', async () => {
    const { client, listed } = await listing({ include: ['get*'], exclude: ['*_secret'] });
    expect(listed.map(({ name }) => name)).toEqual(['get']);
    for (const name of ['add', 'get_secret', 'unknown']) {
      expect((await client.call(name)).error).toMatchObject({ code: -32_602 });
    }
    expect((await client.call('get')).result).toMatchObject(text('done'));
    expect(rig!.upstream.calls.map(({ name }) => name)).toEqual(['get']);
  });

  it('has shorter or other descriptions and no output schemas', async () => {
    const { listed } = await listing({
      maxDescriptionChars: 20,
      dropOutputSchemas: true,
      tools: { add: { description: 'Adds.' } },
    });
    expect(listed.map(({ description }) => description)).toEqual(['Gets it.', 'Adds.', undefined]);
    expect(listed[1]).not.toHaveProperty('outputSchema');
  });

  it('shortens to sentences, else to words', () => {
    expect(shorten('One. Two three four five.', 20)).toBe('One. Two three…');
    expect(shorten('Reads a file. Then more of it follows.', 20)).toBe('Reads a file.');
    expect(shorten('short', 20)).toBe('short');
    fc.assert(
      fc.property(
        fc.string({ maxLength: 100 }),
        fc.integer({ min: 20, max: 50 }),
        (given, limit) => {
          expect(shorten(given, limit).length).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });
});
