import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it, vi } from 'vitest';
import { toolError } from '../tool/result.js';
import { args, fine, never, turn } from './limits.fixture.js';
import type { RunOptions, Settled } from './options.js';
import { startTool } from './run-tool.js';
import { acting, reading, run, throwing, toolWith } from './run.fixture.js';

describe('a call that needs no promise', () => {
  const limits = { deadline: performance.now() + 60_000, signal: new AbortController().signal };

  it.each<[string, () => unknown]>([
    ['a value', () => fine],
    ['an error', () => toolError('not_found', 'x')],
    ['a failure', throwing(new Error('x'))],
  ])('makes none for %s', (_, handler) => {
    expect(startTool(toolWith(handler), args, limits)).toHaveProperty('envelope.success');
    expect(startTool(toolWith(handler), args)).toHaveProperty('envelope.success');
  });

  it('makes none for arguments that are refused', () => {
    expect(startTool(reading, {}, limits)).toMatchObject({
      envelope: { error: { code: 'validation_error' } },
    });
  });

  it('waits for anything that can be waited for', async () => {
    const thenable = { then: (tell: (value: unknown) => void) => tell(fine) };
    for (const handler of [async () => fine, () => thenable]) {
      const started = startTool(toolWith(handler), args);
      expect(started).toBeInstanceOf(Promise);
      expect((await started).envelope.data).toEqual(fine);
    }
  });

  it('is not deceived by data that has a member called then', () => {
    const tool = toolWith(() => ({ ...fine, then: 'no function' }));
    expect(startTool(tool, args)).toMatchObject({ envelope: { data: fine } });
  });
});

it('what the host gives reaches the handler where nothing stands around it', async () => {
  const signal = new AbortController().signal;
  const seen = vi.fn();
  const tool = { ...reading, handler: (_: unknown, context: object) => (seen(context), fine) };
  await run(tool, args, { given: { signal, deadline: 5 }, deadline: performance.now() + 60_000 });
  expect(seen.mock.calls[0]?.[0]).toMatchObject({ signal, deadline: 5 });
});

describe('a call that is not done at once', () => {
  it('can be ended by its host with a failure of its own', async () => {
    const tool = toolWith(never, acting);
    const onPending = vi.fn<NonNullable<RunOptions['onPending']>>((end) => {
      const { input } = toolError('cancelled', 'Closing time.', { outcome: 'unknown' });
      setImmediate(() => end({ ok: false, error: input }));
    });
    const { error } = await run(tool, args, { onPending, deadline: performance.now() + 60_000 });
    expect(error).toMatchObject({ code: 'cancelled', message: 'Closing time.' });
    expect(onPending).toHaveBeenCalledOnce();
  });

  it('does not bother its host when it is', async () => {
    const onPending = vi.fn();
    await run(reading, args, { onPending, deadline: performance.now() + 60_000 });
    await turn();
    expect(onPending).not.toHaveBeenCalled();
  });

  it('tells its host what came too late', async () => {
    const clock = new VirtualClock();
    const onLate = vi.fn<(settled: Settled) => void>();
    const slow = () => new Promise((resolve) => clock.setTimer(200, () => resolve(fine)));
    const running = run(toolWith(slow), args, { clock, deadline: 100, onLate });
    expect((await clock.run(running)).error?.code).toBe('timeout');
    expect(onLate).not.toHaveBeenCalled();
    await clock.drain();
    expect(onLate).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ ok: true, data: fine }),
    );
  });
});
