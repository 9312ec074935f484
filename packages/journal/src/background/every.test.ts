import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it, vi } from 'vitest';
import { sleep } from '../fixtures/rig.fixture.js';
import { every } from './every.js';

describe('periodic work', () => {
  it('never runs concurrently, and its interval starts when a run ends', async () => {
    const clock = new VirtualClock();
    const began: number[] = [];
    const work = async (): Promise<void> => {
      began.push(clock.now());
      await sleep(clock, 250);
    };
    const background = every({ clock, ms: 100, work, report: () => undefined });
    await clock.advance(1000);
    expect(began).toEqual([100, 450, 800]);
    await clock.run(background.stop());
    expect(clock.pending).toBe(0);
  });

  it('continues after a failure, which is reported', async () => {
    const clock = new VirtualClock();
    const report = vi.fn();
    const work = vi.fn(() => Promise.reject(new Error('x')));
    const background = every({ clock, ms: 100, work, report });
    await clock.advance(350);
    expect(work).toHaveBeenCalledTimes(3);
    expect(report).toHaveBeenCalledTimes(3);
    await background.stop();
    await clock.advance(1000);
    expect(work).toHaveBeenCalledTimes(3);
  });

  it('runs at once on request, after the current run', async () => {
    const clock = new VirtualClock();
    const began: number[] = [];
    const background = every({
      clock,
      ms: 1000,
      report: () => undefined,
      work: async () => {
        began.push(clock.now());
        await sleep(clock, 100);
      },
    });
    const first = background.now();
    await clock.advance(50);
    const second = background.now();
    const third = background.now();
    await clock.run(Promise.all([first, second, third]));
    expect(began).toEqual([0, 100]);
    await background.stop();
    expect(clock.pending).toBe(0);
  });
});
