import { LLMock } from '@copilotkit/aimock';
import { claude, gemini, ProviderError, type Model } from '@toolkeel/llm';
import { startLlmSandbox } from '@toolkeel/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, errorOf, eventsOf, quick } from './support/rig.js';

/** An upstream that this project did not write. */
const mock = new LLMock({ port: 0, latency: 0 });
const ANSWER = 'Because air scatters blue light more than red light.';
let models: readonly (readonly [string, Model])[] = [];
let closeAll: () => Promise<void> = () => Promise.resolve();

beforeAll(async () => {
  mock.onMessage(/sky/, { content: ANSWER });
  await mock.start();
  // Only its program is used: it asks the neutral upstream.
  const sandbox = await startLlmSandbox();
  // Chaos is random: enough attempts that a lasting failure cannot happen by chance.
  const policy = {
    ...quick,
    maxRetries: 12,
    budget: false,
    breaker: false,
    rateLimit: { onLimit: 'wait', maxWaitMs: 5_000, withoutHint: 'backoff' },
  } as const;
  const options = { baseUrl: mock.url, policy };
  models = [
    ['gemini', gemini({ ...options, apiKey: { env: 'KEY' }, env: { KEY: 'any' } })],
    [
      'gemini, unary',
      gemini({ ...options, unary: true, apiKey: { env: 'KEY' }, env: { KEY: 'any' } }),
    ],
    ['claude', claude({ ...options, cliPath: sandbox.cliPath })],
  ];
  closeAll = async () => {
    for (const [, model] of models) await model.close();
    await sandbox.close();
    await mock.stop();
  };
});

afterAll(() => closeAll());

describe('against a neutral upstream', () => {
  it('all adapters answer', async () => {
    for (const [name, model] of models) {
      const completion = await model.complete(ask());
      expect([name, completion.text, completion.finish]).toEqual([name, ANSWER, 'stop']);
      const last = (await eventsOf(model.stream(ask()))).at(-1);
      expect(last).toMatchObject({ type: 'done', completion: { text: ANSWER } });
    }
  });

  it.for([
    ['drops', { dropRate: 0.4 }],
    ['disconnects', { disconnectRate: 0.4 }],
    ['rate limits', { rateLimitRate: 0.3 }],
    ['malformed bodies', { malformedRate: 0.3 }],
  ] as const)('all adapters survive its %s', async ([, chaos]) => {
    for (const [name, model] of models) {
      mock.setChaos(chaos);
      const calls = name === 'claude' || 'rateLimitRate' in chaos ? 2 : 6;
      for (let i = 0; i < calls; i++) {
        const completion = await model.complete(ask());
        expect([name, completion.text]).toEqual([name, ANSWER]);
      }
      mock.clearChaos();
    }
  });

  it('a lasting failure is a typed error', async () => {
    mock.setChaos({ dropRate: 1 });
    for (const [, model] of models) {
      const error = await errorOf(model.complete(ask(), { deadline: performance.now() + 3_000 }));
      expect(error).toBeInstanceOf(ProviderError);
      expect(error.retriable || error.clock === 'deadline').toBe(true);
    }
    mock.clearChaos();
  });
});
