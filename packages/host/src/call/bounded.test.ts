import type { Settled } from '@toolkeel/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bounded } from './bounded.js';
import { RunningCall } from './scope.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

const now = (): number => performance.now();
const read = { mutation: false };
const done: Settled = { ok: true, data: 1 };

const start = (timeoutMs: number, client?: AbortSignal): RunningCall =>
  new RunningCall({ name: 'x', meta: {}, timeoutMs, now: now(), client });

describe('a bounded call', () => {
  it('gives what the handler gives, and leaves no timer behind', async () => {
    const settled = await bounded(start(1000), read, () => Promise.resolve(done), {
      now,
      onLate: vi.fn(),
    });
    expect(settled).toBe(done);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends at its deadline and a moment, and tells of what came later', async () => {
    const onLate = vi.fn();
    const call = start(1000);
    let answer = (_settled: Settled): void => {};
    const work = new Promise<Settled>((resolve) => (answer = resolve));
    const result = bounded(call, read, () => work, { now, onLate });
    await vi.advanceTimersByTimeAsync(1019);
    expect(call.ended).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2);
    expect(await result).toMatchObject({
      ok: false,
      error: { code: 'timeout', details: { clock: 'deadline' } },
    });
    expect(call.signal.aborted).toBe(true);
    answer(done);
    await work;
    await Promise.resolve();
    expect(onLate).toHaveBeenCalledExactlyOnceWith(call, done);
  });

  it('lets a handler that heeds the deadline say more about it', async () => {
    const own: Settled = {
      ok: false,
      error: { code: 'timeout', message: 'Mine.', details: { clock: 'attempt' } },
    };
    const work = () => new Promise<Settled>((resolve) => setTimeout(() => resolve(own), 1005));
    const result = bounded(start(1000), read, work, { now, onLate: vi.fn() });
    await vi.advanceTimersByTimeAsync(1005);
    expect(await result).toBe(own);
  });

  it('says that nobody knows what became of a mutation', async () => {
    const never = () => new Promise<Settled>(() => {});
    const result = bounded(start(10), { mutation: true }, never, { now, onLate: vi.fn() });
    await vi.advanceTimersByTimeAsync(40);
    expect(await result).toMatchObject({ error: { code: 'timeout', outcome: 'unknown' } });
  });

  it('ends soon after its client gave up', async () => {
    const client = new AbortController();
    const call = start(60_000, client.signal);
    const result = bounded(call, read, () => new Promise<Settled>(() => {}), {
      now,
      onLate: vi.fn(),
    });
    client.abort(new Error('enough'));
    expect(call.signal.reason).toEqual(new Error('enough'));
    await vi.advanceTimersByTimeAsync(20);
    expect(await result).toMatchObject({ error: { code: 'cancelled' } });
  });

  it('is not begun for a client that has left already', async () => {
    const work = vi.fn();
    const call = start(1000, AbortSignal.abort());
    expect(await bounded(call, { mutation: true }, work, { now, onLate: vi.fn() })).toMatchObject({
      error: { code: 'cancelled', outcome: 'not_executed' },
    });
    expect(work).not.toHaveBeenCalled();
  });

  it('goes on without its client once it is held, but not past its deadline', async () => {
    const client = new AbortController();
    const call = start(1000, client.signal);
    const result = bounded(call, read, () => new Promise<Settled>(() => {}), {
      now,
      onLate: vi.fn(),
    });
    call.hold();
    client.abort();
    await vi.advanceTimersByTimeAsync(500);
    expect(call.ended).toBeUndefined();
    await vi.advanceTimersByTimeAsync(600);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
  });

  it('needs no timer where there is no deadline', async () => {
    const work = () => new Promise<Settled>((resolve) => setImmediate(() => resolve(done)));
    const result = bounded(start(Infinity), read, work, { now, onLate: vi.fn() });
    expect(vi.getTimerCount()).toBe(0);
    expect(await result).toBe(done);
  });

  it('passes on what a layer throws', async () => {
    const broken = () => Promise.reject(new Error('broken'));
    await expect(bounded(start(10), read, broken, { now, onLate: vi.fn() })).rejects.toThrow(
      'broken',
    );
    expect(vi.getTimerCount()).toBe(0);
  });
});
