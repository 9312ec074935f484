import { describe, expect, it } from 'vitest';
import {
  errorOf,
  leftTimers,
  question,
  scripted,
  text,
  type Step,
} from './scripted-provider.fixture.js';
import type { Timeouts } from './clocks.js';

const timeouts: Required<Timeouts> = {
  connectMs: 1_000,
  headersMs: 2_000,
  firstContentMs: 4_000,
  byteIdleMs: 8_000,
  contentIdleMs: 16_000,
  totalMs: 100_000,
};

const wait = (waitMs: number): Step => ({ waitMs });
const keepAlive = (times: number): Step[] =>
  Array.from({ length: times }, () => [wait(900), 'bytes' as const]).flat();
const drip = (times: number): Step[] =>
  Array.from({ length: times }, () => [wait(900), 'bytes' as const, text('.')]).flat();

/** What the provider does, which clock fires, in which phase, when. */
const table: readonly (readonly [string, readonly Step[], string, string, number])[] = [
  ['never connects', ['hang'], 'connect', 'connect', 1_000],
  ['never answers', [wait(500), 'connected', 'hang'], 'headers', 'headers', 2_500],
  [
    'answers without content, with bytes',
    ['connected', 'headers', ...keepAlive(50)],
    'first_content',
    'first_content',
    4_000,
  ],
  ['falls silent', ['connected', 'headers', text('a'), 'hang'], 'byte_idle', 'stream', 8_000],
  [
    'sends only keep-alive bytes',
    ['connected', 'headers', wait(100), text('a'), ...keepAlive(50)],
    'content_idle',
    'stream',
    16_100,
  ],
  ['drips for ever', ['connected', 'headers', ...drip(500)], 'total', 'stream', 100_000],
];

describe('the clocks of an attempt', () => {
  it.for(table)('a provider that %s', async ([, script, clockName, phase, at]) => {
    const policy = { maxRetries: 0 };
    const { model, clock, requests } = scripted([script], { timeouts, policy });
    const error = await clock.run(errorOf(model.complete(question)));
    expect(error).toMatchObject({ code: 'timeout', clock: clockName, phase, retriable: true });
    expect(clock.now()).toBe(at);
    expect(requests[0]?.aborted).toBe(true);
  });

  it('leave a healthy slow answer alone and no timer behind', async () => {
    const script: readonly Step[] = ['connected', 'headers', ...drip(100), 'finish'];
    const { model, clock } = scripted([script], { timeouts });
    expect(await clock.run(model.complete(question))).toMatchObject({ text: '.'.repeat(100) });
    expect(await leftTimers(clock)).toBe(0);
  });

  it('start when the attempt leaves the local queue', async () => {
    const { model, clock } = scripted([['connected', 'headers', text('a'), 'finish']], {
      timeouts,
    });
    await clock.run(model.complete(question));
    expect(clock.now()).toBe(0);
  });

  it('end with the deadline of the call, whatever the attempt does', async () => {
    const { model, clock } = scripted([['connected', 'headers', ...drip(500)]]);
    const error = await clock.run(errorOf(model.complete(question, { deadline: 5_000 })));
    expect(error).toMatchObject({ code: 'timeout', clock: 'deadline', phase: 'stream' });
    expect(clock.now()).toBe(5_000);
  });

  it('end after 300 s, waits and attempts included, unless the caller says otherwise', async () => {
    const { model, clock } = scripted([['connected', 'headers', ...drip(500)]]);
    const error = await clock.run(errorOf(model.complete(question)));
    expect(error).toMatchObject({ code: 'timeout', clock: 'deadline', attempts: 1 });
    expect(clock.now()).toBe(300_000);
  });

  it('refuse a timeout of zero', () => {
    expect(() => scripted([], { timeouts: { totalMs: 0 } })).toThrow(/totalMs must be above 0/);
  });
});
