import { runTool } from '@toolkeel/contract';
import { createJournal, memoryStore, ephemeralEncryption, type Journal } from '@toolkeel/journal';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { shelf } from './governed.fixture.js';
import { lazyJournal, type LazyJournalOptions } from './journal.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const setUp = (over: Partial<LazyJournalOptions> = {}) => {
  const { tools, done } = shelf();
  const store = memoryStore();
  const lines: string[] = [];
  const tool = (name: string) => tools.find((spec) => spec.name === name)!;
  const open = vi.fn(async (): Promise<Journal> =>
    createJournal({
      store,
      encryption: ephemeralEncryption(),
      tools: { specs: () => tools, load: tool },
    }),
  );
  const journal = lazyJournal({
    open,
    mutates: true,
    isPersistent: true,
    log: (level, event) => lines.push(`${level} ${event}`),
    ...over,
  });
  const run = async (name: string, args: object, deadline?: number) =>
    (
      await runTool(tool(name), args, {
        middleware: (call, next) =>
          journal.middleware(call, next, {
            meta: {},
            signal: new AbortController().signal,
            deadline: deadline ?? Infinity,
            hold: () => undefined,
          }),
      })
    ).envelope;
  return { journal, open, run, done, store, lines };
};

const row = {
  correlationId: 'c',
  tool: 'look',
  code: 'ok',
  at: 1,
  elapsedMs: 1,
  attempts: 1,
  waitedMs: 0,
};

describe('a lazy journal', () => {
  it('is not opened for reads, and once for mutations', async () => {
    const { run, open } = setUp();
    expect(await run('look', {})).toMatchObject({ success: true });
    expect(open).not.toHaveBeenCalled();
    await Promise.all([run('put', { thing: 'a' }), run('put', { thing: 'b' })]);
    expect(open).toHaveBeenCalledTimes(1);
  });

  it('sends nothing while it cannot be opened, and retries at the next call', async () => {
    const { run, open, done, lines } = setUp();
    open.mockRejectedValueOnce(new Error('the disk is gone'));
    expect(await run('put', { thing: 'a' })).toMatchObject({
      error: { code: 'db_error', outcome: 'not_executed' },
    });
    expect(done).toEqual([]);
    expect(lines).toEqual(['error journal_not_open']);
    expect(await run('put', { thing: 'a' })).toMatchObject({ success: true });
    expect(done).toEqual(['a']);
  });

  it('responds before the deadline if opening takes longer', async () => {
    const { run, open, done } = setUp();
    open.mockReturnValueOnce(new Promise(() => {}));
    const result = run('put', { thing: 'a' }, performance.now() + 500);
    await vi.advanceTimersByTimeAsync(480);
    expect(await result).toMatchObject({ error: { code: 'db_error', outcome: 'not_executed' } });
    expect(done).toEqual([]);
  });

  it('is opened shortly after a start if a mutation is registered', async () => {
    const { journal, open } = setUp();
    journal.start();
    expect(open).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(300);
    expect(open).toHaveBeenCalledTimes(1);
    const reading = setUp({ mutates: false, isPersistent: false });
    reading.journal.start();
    await vi.advanceTimersByTimeAsync(300_000);
    expect(reading.open).not.toHaveBeenCalled();
  });

  it('is opened later if there are only reads, so that the console shows the process', async () => {
    const { journal, open } = setUp({ mutates: false });
    journal.start();
    await vi.advanceTimersByTimeAsync(2000);
    expect(open).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2000);
    expect(open).toHaveBeenCalledTimes(1);
  });

  it('records calls after a delay, or when it is closed', async () => {
    const { journal, open, store } = setUp({ mutates: false });
    journal.noteCall(row);
    expect(open).not.toHaveBeenCalled();
    await journal.close();
    expect(await store.calls()).toHaveLength(1);

    const later = setUp({ mutates: false });
    later.journal.noteCall(row);
    await vi.advanceTimersByTimeAsync(1100);
    expect(later.open).toHaveBeenCalledTimes(1);

    const ephemeral = setUp({ mutates: false, isPersistent: false });
    ephemeral.journal.noteCall(row);
    await ephemeral.journal.close();
    expect(ephemeral.open).not.toHaveBeenCalled();
  });

  it('only warns if no mutation is registered, and does not retry at every call', async () => {
    const { journal, open, lines } = setUp({ mutates: false });
    open.mockRejectedValue(new Error('read-only'));
    for (let n = 0; n < 20; n += 1) {
      journal.noteCall(row);
      await vi.advanceTimersByTimeAsync(1500);
    }
    expect(open).toHaveBeenCalledTimes(1);
    expect(lines).toEqual(['warn journal_not_open']);
    await journal.close();
  });

  it('passes on deliveries while it is open', async () => {
    const noteDelivered = vi.fn();
    const { journal, open } = setUp();
    const original = open.getMockImplementation();
    open.mockImplementation(async () => Object.assign(await original!(), { noteDelivered }));
    journal.noteDelivered('op_0');
    expect(open).not.toHaveBeenCalled();
    await journal.ready();
    journal.noteDelivered('op_1');
    await journal.close();
    journal.noteDelivered('op_2');
    expect(noteDelivered).toHaveBeenCalledExactlyOnceWith('op_1');
  });

  it('rejects ready() with the reason if it cannot be opened', async () => {
    const { journal, open } = setUp();
    open.mockRejectedValueOnce(new Error('the disk is gone'));
    await expect(journal.ready()).rejects.toThrow('the disk is gone');
    await expect(journal.ready()).resolves.toBeUndefined();
  });
});
