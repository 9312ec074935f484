import { describe, expect, test } from 'vitest';
import { batchedWrites } from './connection.js';

/** Records its statements, and fails on demand. */
const scripted = (failAt?: string) => {
  const log: string[] = [];
  let open = false;
  return {
    log,
    exec: (text: string) => {
      log.push(text);
      if (text === failAt) {
        open = text !== 'COMMIT' && open;
        throw new Error(`failed at ${text}`);
      }
      if (text.startsWith('BEGIN')) open = true;
      if (text === 'COMMIT' || text === 'ROLLBACK') open = false;
    },
    inTransaction: () => open,
    break: () => {
      open = false;
      throw new Error('disk is full');
    },
  };
};
const atOnce = async <T>(action: () => T): Promise<T> => action();

describe('batched writes', () => {
  test('a single transition is a plain transaction', async () => {
    const driver = scripted();
    expect(await batchedWrites(driver, atOnce)(() => 7)).toBe(7);
    expect(driver.log).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
  });

  test('concurrent transitions share a commit', async () => {
    const driver = scripted();
    const write = batchedWrites(driver, atOnce);
    expect(await Promise.all([write(() => 1), write(() => 2)])).toEqual([1, 2]);
    expect(driver.log.filter((text) => text === 'COMMIT')).toHaveLength(1);
  });

  test('a failed transition does not affect the others', async () => {
    const driver = scripted();
    const write = batchedWrites(driver, atOnce);
    const fail = (): never => {
      throw new Error('mine');
    };
    const ends = await Promise.allSettled([write(() => 1), write(fail), write(() => 3)]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(driver.log).toContain('ROLLBACK TO job');
    expect(driver.log.at(-1)).toBe('COMMIT');
  });

  test('no transition resolves if the commit fails', async () => {
    const driver = scripted('COMMIT');
    const write = batchedWrites(driver, atOnce);
    const ends = await Promise.allSettled([write(() => 1), write(() => 2)]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  test('an error that ends the transaction rejects all transitions', async () => {
    const driver = scripted();
    const write = batchedWrites(driver, atOnce);
    const ends = await Promise.allSettled([write(() => 1), write(driver.break), write(() => 3)]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(driver.log).not.toContain('COMMIT');
    expect(await write(() => 4)).toBe(4);
  });

  test('a transition that cannot get the lock fails, and the next one retries', async () => {
    let isLocked = true;
    const driver = scripted();
    const write = batchedWrites(driver, async (action) => {
      if (isLocked) throw new Error('locked');
      return action();
    });
    await expect(write(() => 1)).rejects.toThrow('locked');
    isLocked = false;
    expect(await write(() => 2)).toBe(2);
  });

  test('records whose loss has no consequence do not wait for the disk; a transition beside or after them does', async () => {
    const driver = scripted();
    const write = batchedWrites(driver, atOnce);
    await write(() => 1, 'unsynced');
    await write(() => 2, 'unsynced');
    await Promise.all([write(() => 3, 'unsynced'), write(() => 4)]);
    const settings = driver.log.filter((text) => /PRAGMA|BEGIN/.test(text));
    expect(settings).toEqual([
      'PRAGMA synchronous = NORMAL',
      'BEGIN IMMEDIATE',
      'BEGIN IMMEDIATE',
      'PRAGMA synchronous = FULL',
      'BEGIN IMMEDIATE',
    ]);
  });

  test('no transition commits if the connection cannot be made durable again', async () => {
    const driver = scripted('PRAGMA synchronous = FULL');
    const write = batchedWrites(driver, atOnce);
    await write(() => 1, 'unsynced');
    await expect(write(() => 2)).rejects.toThrow();
    await expect(write(() => 3)).rejects.toThrow();
    expect(driver.log.filter((text) => text === 'COMMIT')).toHaveLength(1);
  });

  test('a batch has a maximum size', async () => {
    const driver = scripted();
    const write = batchedWrites(driver, atOnce);
    const all = Array.from({ length: 150 }, (_, index) => write(() => index));
    expect(await Promise.all(all)).toEqual(Array.from({ length: 150 }, (_, index) => index));
    expect(driver.log.filter((text) => text === 'COMMIT')).toHaveLength(3);
  });
});
