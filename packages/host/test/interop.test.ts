import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHost, type Host, type HttpHandle } from '@toolkeel/host';
import { samplePack } from '../src/fixtures/sample.fixture.js';
import { generations, overHttp, overStdio, type AnyClient } from './clients.js';

let host: Host;
let http: HttpHandle;

beforeAll(async () => {
  host = createHost({ packs: [{ pack: samplePack, callTimeoutMs: 5_000 }] });
  http = await host.listen({ port: 0 });
});

afterAll(async () => {
  await http.close();
  await host.close();
});

const transports = ['stdio', 'http'] as const;
const cases = transports.flatMap((transport) =>
  generations.map((generation) => ({ transport, generation })),
);

describe.each(cases)('a client of $generation over $transport', ({ transport, generation }) => {
  let client: AnyClient;

  beforeAll(async () => {
    client =
      transport === 'stdio' ? await overStdio(generation) : await overHttp(generation, http.url);
  });

  afterAll(() => client.close());

  it('sees tools, resources and prompts, and gets envelopes', async () => {
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      title: 'Echo',
      description: 'Returns its input.',
      inputSchema: { type: 'object', required: ['text'], additionalProperties: false },
      outputSchema: { type: 'object', required: ['success', 'data', 'meta'] },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    });
    expect(tools.map(({ name }) => name)).not.toContain('write_word');

    const result = await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
    expect(result).toMatchObject({
      structuredContent: { success: true, data: { text: 'hi' }, meta: { retry_count: 0 } },
    });
    expect(result['isError']).not.toBe(true);
    const [block] = result['content'] as { text: string }[];
    expect(JSON.parse(block?.text ?? '')).toEqual(result['structuredContent']);

    expect(await client.callTool({ name: 'echo', arguments: { text: 'nothing' } })).toMatchObject({
      isError: true,
      structuredContent: { success: false, error: { code: 'not_found', retryable: false } },
      _meta: { 'io.modelcontextprotocol/toolFailure': { class: 'capability', code: 'not_found' } },
    });
    expect(await client.callTool({ name: 'echo', arguments: { txt: 1 } })).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'validation_error' } },
    });

    const first = await client.callTool({ name: 'list_words' });
    const { next_token: token } = (
      first['structuredContent'] as { meta: { pagination: { next_token: string } } }
    ).meta.pagination;
    expect(
      await client.callTool({ name: 'list_words', arguments: { page_token: token } }),
    ).toMatchObject({ structuredContent: { data: { words: ['gamma', 'delta'] } } });

    const { resources } = await client.client.listResources();
    expect(resources).toMatchObject([{ uri: 'sample://greeting', mimeType: 'text/plain' }]);
    const { resourceTemplates } = await client.client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'sample://words/{word}' }]);
    expect(await client.client.readResource({ uri: 'sample://words/moon' })).toMatchObject({
      contents: [{ uri: 'sample://words/moon', text: 'moon', mimeType: 'text/plain' }],
    });
    await expect(client.client.readResource({ uri: 'sample://no' })).rejects.toThrow(
      /sample:\/\/no/,
    );

    const { prompts } = await client.client.listPrompts();
    expect(prompts).toMatchObject([
      {
        name: 'greet',
        arguments: [
          { name: 'who', required: true },
          { name: 'how', required: false },
        ],
      },
    ]);
    expect(
      await client.client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } }),
    ).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'Greet Ada.' } }],
    });
    await expect(client.client.getPrompt({ name: 'greet', arguments: {} })).rejects.toThrow(/who/);
  });

  it.each([
    ['text', { data: { value: 'a', by: { name: 'b' } } }],
    ['nothing', { data: { value: null } }],
    ['list', { data: { value: [{ id: 1, tags: ['x'] }] } }],
    [
      'own_error',
      { data: null, error: { code: 'sample_jammed', retryable: true, details: { at: 3 } } },
    ],
    ['partial', { data: { done: 1 }, error: { code: 'sample_jammed' } }],
  ])('accepts a result by its output schema: %s', async (of, content) => {
    // A client validates results of tools that it has listed.
    await client.listTools();
    const result = await client.callTool({ name: 'shape', arguments: { of } });
    expect(result).toMatchObject({ structuredContent: content });
  });

  it('gets suggestions for an unknown tool', async () => {
    await expect(client.callTool({ name: 'ecko', arguments: {} })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('Did you mean "echo"?'),
      data: { nearest: ['echo'] },
    });
  });

  it('receives retries as progress, which always increases', async () => {
    let received: { progress: number; message?: string }[] = [];
    // A 1.x client drops progress that it reads together with the result, as happens on a busy machine.
    for (let call = 0; call < 10 && received.length < 2; call += 1) {
      const current: typeof received = [];
      const result = await client.callTool(
        { name: 'flaky' },
        { onprogress: (p) => current.push(p) },
      );
      expect(result).toMatchObject({ structuredContent: { meta: { retry_count: 2 } } });
      received = current;
    }
    expect(received.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^attempt 1 failed, retrying in \d+ ms$/),
      expect.stringMatching(/^attempt 2 failed/),
    ]);
    const values = received.map(({ progress }) => progress);
    expect(values.every((value, index) => value > (values[index - 1] ?? 0))).toBe(true);
  });
});
