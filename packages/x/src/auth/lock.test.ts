import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lock } from './lock.js';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-lock-'));
  path = join(folder, 'x.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const patient = () => ({ signal: AbortSignal.timeout(10_000) });
const impatient = () => ({ signal: AbortSignal.timeout(60) });

describe('lock', () => {
  it('has one holder at a time among many contenders', async () => {
    let holders = 0;
    let most = 0;
    let turns = 0;
    const contend = async (): Promise<void> => {
      const mine = await lock(path, patient());
      most = Math.max(most, ++holders);
      turns++;
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      holders--;
      await mine.release();
    };
    await Promise.all(Array.from({ length: 12 }, contend));
    expect({ most, turns }).toEqual({ most: 1, turns: 12 });
    expect(await readdir(folder)).toEqual([]);
  });

  it('waits for a live holder until the signal aborts', async () => {
    const first = await lock(path, patient());
    await expect(lock(path, impatient())).rejects.toThrow(/timeout/i);
    expect(await first.isHeld()).toBe(true);
    await first.release();
    await (await lock(path, impatient())).release();
  });

  it('takes over from a dead process', async () => {
    await lock(path, patient());
    const isAlive = (): boolean => false;
    const second = await lock(path, { ...impatient(), isAlive });
    expect(await second.isHeld()).toBe(true);
  });

  it('takes over after a minute, which the earlier holder can detect', async () => {
    const first = await lock(path, { ...patient(), wallNow: () => Date.now() - 61_000 });
    expect(await first.isHeld()).toBe(true);
    const second = await lock(path, impatient());
    expect([await first.isHeld(), await second.isHeld()]).toEqual([false, true]);
    // The earlier holder must not release the lock of its successor.
    await first.release();
    expect(await second.isHeld()).toBe(true);
  });

  it('ignores unrelated files', async () => {
    await writeFile(`${path}.lock.backup`, '');
    await writeFile(join(folder, 'other.json.lock.1.2.3.4'), '');
    await (await lock(path, impatient())).release();
    expect(await readdir(folder)).toHaveLength(2);
  });
});
