import { describe, expect, it } from 'vitest';
import { compose } from '../engine/pipeline.js';
import { idle } from '../layers/retry-and-timeouts.js';
import { VirtualClock } from '../testing/index.js';
import { countProgress, withIdleTimeout } from './idle-stream.js';

/** Pieces with a pause before each; after the last it ends, or falls silent for ever. */
function pieces(clock: VirtualClock, pauses: number[], end: 'end' | 'silence' | Error = 'end') {
  const state = { closed: false };
  async function* source(): AsyncGenerator<number> {
    try {
      for (const [n, ms] of pauses.entries()) {
        await new Promise<void>((resolve) => clock.setTimer(ms, resolve));
        yield n;
      }
      if (end instanceof Error) throw end;
      if (end === 'silence') await new Promise(() => {});
    } finally {
      state.closed = true;
    }
  }
  return { source: source(), state };
}

async function collect(stream: AsyncIterable<number>, into: number[]): Promise<void> {
  for await (const piece of stream) into.push(piece);
}

describe('withIdleTimeout', () => {
  it('yields chunks that arrive in time', async () => {
    const clock = new VirtualClock();
    const { source, state } = pieces(clock, [90, 90, 90]);
    const seen: number[] = [];
    await clock.run(collect(withIdleTimeout(source, { idleMs: 100, clock }), seen));
    expect(seen).toEqual([0, 1, 2]);
    expect(state.closed).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('throws an idle timeout after the chunks that arrived', async () => {
    const clock = new VirtualClock();
    const { source } = pieces(clock, [50, 50], 'silence');
    const seen: number[] = [];
    const done = collect(withIdleTimeout(source, { idleMs: 100, clock }), seen);
    await expect(clock.run(done)).rejects.toMatchObject({
      fault: { kind: 'timeout', clock: 'idle' },
    });
    expect(seen).toEqual([0, 1]);
    expect(clock.now()).toBe(200);
  });

  it('does not count the consumer’s time', async () => {
    const clock = new VirtualClock();
    const { source } = pieces(clock, [10, 10]);
    const slowly = (async () => {
      let count = 0;
      for await (const _ of withIdleTimeout(source, { idleMs: 50, clock })) {
        count++;
        await new Promise<void>((resolve) => clock.setTimer(1000, resolve));
      }
      return count;
    })();
    expect(await clock.run(slowly)).toBe(2);
  });

  it('propagates the source’s error', async () => {
    const clock = new VirtualClock();
    const broken = new Error('reset');
    const { source } = pieces(clock, [10], broken);
    const done = collect(withIdleTimeout(source, { idleMs: 50, clock }), []);
    await expect(clock.run(done)).rejects.toBe(broken);
  });

  it('closes the source when the consumer stops early', async () => {
    const clock = new VirtualClock();
    const { source, state } = pieces(clock, [10, 10, 10]);
    const leave = (async () => {
      for await (const _ of withIdleTimeout(source, { idleMs: 50, clock })) break;
    })();
    await clock.run(leave);
    await clock.advance(1);
    expect(state.closed).toBe(true);
  });

  it('rejects an invalid idle time', async () => {
    const stream = withIdleTimeout(pieces(new VirtualClock(), []).source, { idleMs: 0 });
    await expect(stream.next()).rejects.toThrow(/^idleMs must be above 0/);
  });
});

describe('countProgress', () => {
  it('restarts the idle timeout at each chunk', async () => {
    const clock = new VirtualClock();
    const read = compose([idle(100)], { effect: 'read', clock }).wrap(
      async (source: AsyncIterable<number>, attempt) => {
        const seen: number[] = [];
        await collect(countProgress(source, attempt), seen);
        return seen.length;
      },
    );
    expect(await clock.run(read(pieces(clock, Array<number>(20).fill(90)).source))).toBe(20);
    const silent = read.outcome(pieces(clock, [90, 90], 'silence').source);
    expect(await clock.run(silent)).toMatchObject({ ok: false, fault: { clock: 'idle' } });
  });
});
