import { createHost } from '@toolkeel/host';
import { createLlmPack } from '@toolkeel/llm';
import { describe, expect, it } from 'vitest';
import { packOf } from './support/pack.js';
import { asked, sandboxOf } from './support/rig.js';

describe('llm_complete', () => {
  it('answers and reports which model did, and at what cost', async () => {
    const sandbox = await sandboxOf();
    const prices = { 'gemini-2.5-flash': { input: 1, output: 2 } };
    const rig = await packOf(sandbox, { providers: ['gemini'], gemini: { prices } });
    const { success, data } = await rig.run('llm_complete', {
      prompt: 'And why red at dusk?',
      system: 'Be short.',
      history: [
        { role: 'user', text: 'Why is the sky blue?' },
        { role: 'assistant', text: 'Scattering.' },
      ],
      images: [{ media_type: 'image/png', data: 'aGk=' }],
      max_output_tokens: 100,
      temperature: 0,
    });
    expect(success).toBe(true);
    expect(data).toEqual({
      text: expect.stringContaining('I see 1 image'),
      provider: 'gemini',
      model: 'gemini-2.5-flash',
      finish: 'stop',
      attempts: 1,
      usage: expect.objectContaining({ input_tokens: 5, cost_usd: expect.any(Number) }),
      request_id: expect.any(String),
    });
  });

  it('falls back to the next provider', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'http-401', routes: ['gemini-stream'] }] });
    const rig = await packOf(sandbox, { providers: ['gemini', 'claude'] });
    const { data } = await rig.run('llm_complete', { prompt: 'Why?' });
    expect(data).toMatchObject({ provider: 'claude', attempts: 2 });
  });

  it('uses the provider of a named model', async () => {
    const rig = await packOf(await sandboxOf(), { providers: ['claude', 'gemini'] });
    const { data } = await rig.run('llm_complete', { prompt: 'Why?', model: 'gemini-2.5-pro' });
    expect(data).toMatchObject({ provider: 'gemini', model: 'gemini-2.5-pro' });
  });

  it('has a cost where the prices of all models that may be asked are known', async () => {
    const prices = { 'gemini-2.5-flash': { input: 1, output: 2 } };
    const costOf = async (providers: readonly ('claude' | 'gemini')[], args: object) => {
      const rig = await packOf(await sandboxOf(), {
        providers: [...providers],
        gemini: { prices },
      });
      const tool = rig.instance.tools.find(({ name }) => name === 'llm_complete');
      return tool?.estimateCost?.({ prompt: 'Why?', max_output_tokens: 100, ...args });
    };
    const cost = { amount: (4 * 1 + 100 * 2) / 1e6, unit: 'USD' };
    expect(await costOf(['gemini'], {})).toEqual(cost);
    expect(await costOf(['gemini', 'claude'], { provider: 'gemini' })).toEqual(cost);
    expect(await costOf(['gemini', 'claude'], { model: 'gemini-2.5-flash' })).toEqual(cost);
    // An upper bound: each byte of the schema is input, and no limit means the most that a model writes.
    const more = { json_schema: { type: 'object' }, max_output_tokens: undefined };
    const bound = (4 + '{"type":"object"}'.length + 65_536 * 2) / 1e6;
    expect(await costOf(['gemini'], more)).toEqual({ amount: bound, unit: 'USD' });
    // Claude may answer, and its price is not known before.
    expect(await costOf(['gemini', 'claude'], {})).toBeUndefined();
    expect(await costOf(['gemini'], { model: 'gemini-2.5-pro' })).toBeUndefined();
  });

  it.for([
    ['an image', { images: [{ media_type: 'image/heic', data: 'AAAA' }] }],
    ['a schema', { json_schema: { type: 'object', title: 'x'.repeat(200_000) } }],
  ] as const)('asks Gemini about %s that only Claude cannot take', async ([, args]) => {
    const sandbox = await sandboxOf();
    const rig = await packOf(sandbox, { providers: ['claude', 'gemini'] });
    const { data } = await rig.run('llm_complete', { prompt: 'Why?', ...args });
    expect(data).toMatchObject({ provider: 'gemini', finish: 'stop' });
    const claudeOnly = await rig.run('llm_complete', {
      prompt: 'Why?',
      provider: 'claude',
      ...args,
    });
    expect(claudeOnly.error).toMatchObject({ code: 'unsupported_by_upstream', retryable: false });
  });

  it('reports its retries to the host', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'llm-429-retry-after-ms', times: 1 }] });
    const rig = await packOf(sandbox, { providers: ['gemini'] });
    expect((await rig.run('llm_complete', { prompt: 'Why?' })).success).toBe(true);
    expect(rig.events.map(({ type }) => type)).toContain('retry_attempt');
  });

  it('names the clock of a timeout', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'stall' }] });
    const timeouts = { headersSecs: 0.2 };
    const rig = await packOf(sandbox, {
      providers: ['gemini'],
      maxRetries: 0,
      gemini: { timeouts },
    });
    const { error } = await rig.run('llm_complete', { prompt: 'Why?' });
    expect(error).toMatchObject({
      code: 'llm_error',
      retryable: true,
      details: { provider: 'gemini', clock: 'headers' },
      message: 'gemini did not begin to respond within 0.2 s.',
    });
  });

  it('refuses unknown arguments', async () => {
    const rig = await packOf(await sandboxOf(), { providers: ['gemini'] });
    const { error } = await rig.run('llm_complete', { prompt: 'Why?', tempature: 1 });
    expect(error?.code).toBe('validation_error');
  });
});

describe('llm_health and llm_models', () => {
  it('describe the providers without a completion', async () => {
    const sandbox = await sandboxOf();
    const rig = await packOf(sandbox, { providers: ['gemini', 'claude'] });
    expect((await rig.run('llm_health')).data).toMatchObject({
      models: [
        { provider: 'gemini', state: 'healthy', circuit: 'closed' },
        { provider: 'claude', state: 'healthy' },
      ],
    });
    const { data } = await rig.run('llm_models');
    expect(data).toMatchObject({ problems: [] });
    expect(await rig.instance.health()).toMatchObject({ ok: true });
    expect(asked(sandbox)).toBe(0);
  });

  it('report a provider that cannot be asked beside one that can', async () => {
    const sandbox = await sandboxOf();
    const claude = { cliPath: '/nowhere/claude' };
    const rig = await packOf(sandbox, { providers: ['gemini', 'claude'], claude });
    expect((await rig.run('llm_models')).data).toMatchObject({
      models: expect.arrayContaining([expect.objectContaining({ provider: 'gemini' })]),
      problems: [{ provider: 'claude', message: expect.stringContaining('/nowhere/claude') }],
    });
    expect(await rig.instance.health()).toMatchObject({
      ok: true,
      upstreams: [
        { name: 'gemini', ok: true },
        { name: 'claude', ok: false },
      ],
    });
  });

  it('report that nothing is configured', async () => {
    const rig = await packOf(undefined);
    expect(await rig.instance.health()).toMatchObject({ ok: false, configured: false });
    expect((await rig.run('llm_health')).data).toEqual({ models: [] });
    // The pack that says so is served already.
    expect((await rig.run('llm_complete', { prompt: 'Why?' })).error).toMatchObject({
      code: 'llm_not_configured',
      message: expect.stringMatching(/^No language model is configured\. Install the Claude CLI/),
    });
  });
});

it('a host gives the model of the pack to other packs', async () => {
  const sandbox = await sandboxOf();
  const seen: string[] = [];
  const host = createHost({
    packs: [
      {
        pack: createLlmPack({ env: { KEY: sandbox.apiKey } }),
        config: { providers: ['gemini'], gemini: { baseUrl: sandbox.url, apiKey: { env: 'KEY' } } },
      },
      {
        pack: {
          name: 'drafts',
          configSchema: (await import('zod')).object({}),
          describe: () => [],
          create: (_, { model }) =>
            Promise.resolve({
              tools: [],
              health: async () => {
                const messages = [{ role: 'user', content: 'Why?' }] as const;
                const { text } = (await model?.complete({ messages })) ?? { text: '' };
                seen.push(text);
                return { ok: true, detail: '' };
              },
              close: () => Promise.resolve(),
            }),
        },
      },
    ],
  });
  await host.health();
  await host.close();
  expect(seen).toEqual([expect.stringMatching(/^You asked: Why\?/)]);
});
