import { describe, expect, test } from 'vitest';
import type { Answer } from '../rig/server.js';
import { envelopeReader } from './envelope.js';

const schema = {
  type: 'object',
  properties: { success: { type: 'boolean' }, data: { required: ['url'] } },
  required: ['success', 'meta'],
};
const read = envelopeReader(new Map([['get_root', schema]]));

const meta = { tool_version: '1.0', elapsed_ms: 3, retry_count: 2, correlation_id: 'c' };
const good = { success: true, data: { url: 'http://127.0.0.1:4711/x' }, meta };
const bad = {
  success: false,
  data: null,
  error: { code: 'timeout', message: 'too slow', retryable: true },
  meta,
};
const answerWith = (envelope: object, about: object = {}): Answer => ({
  structuredContent: envelope,
  content: [{ type: 'text', text: JSON.stringify(envelope) }],
  isError: 'error' in envelope,
  ...about,
});

describe('an envelope', () => {
  test('says whether it succeeded and how often it was tried again', () => {
    expect(read('get_root', answerWith(good))).toMatchObject({
      ok: true,
      told: { success: true, code: 'ok', retries: 2 },
    });
    expect(read('get_root', answerWith(bad))).toMatchObject({
      ok: true,
      told: { success: false, code: 'timeout', digest: '' },
    });
  });

  test('has the same digest wherever its upstream listens, and another for other data', () => {
    const digest = (url: string) => {
      const answer = read('get_root', answerWith({ ...good, data: { url } }));
      return answer.ok ? answer.told.digest : answer.why;
    };
    expect(digest('http://127.0.0.1:1/x')).toBe(digest('http://127.0.0.1:65000/x'));
    expect(digest('http://127.0.0.1:1/x')).not.toBe(digest('http://127.0.0.1:1/y'));
  });

  test.for([
    ['the call threw', { thrown: 'no output schema' }, 'no result: no output schema'],
    [
      'its tool’s schema refuses it',
      answerWith({ ...good, data: {} }),
      'output schema: data/data must',
    ],
    ['it is missing', { content: [] }, 'output schema'],
    [
      'its code and advice differ',
      answerWith({ ...bad, error: { ...bad.error, retryable: false } }),
      'contract: ',
    ],
    ['it has something else in it', answerWith({ ...good, extra: 1 }), 'contract: '],
    [
      'the text says otherwise',
      answerWith(good, { content: [{ type: 'text', text: '{}' }] }),
      'the text',
    ],
    [
      'the text is no JSON',
      answerWith(good, { content: [{ type: 'text', text: 'ok' }] }),
      'the text',
    ],
    ['a failure is not marked', answerWith(bad, { isError: false }), 'isError'],
    ['a success is marked as failure', answerWith(good, { isError: true }), 'isError'],
  ] as const)('is none when %s', ([, answer, why]) => {
    expect(read('get_root', answer)).toMatchObject({
      ok: false,
      why: expect.stringContaining(why),
    });
  });

  test('of a tool without a schema is none', () => {
    expect(read('other', answerWith(good))).toMatchObject({ ok: false });
  });
});
