import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type JournalStore } from '@toolkeel/journal';
import { systemLiveness, systemProcesses } from '../src/owner/process.js';
import { DAY, owner, request } from '../src/store/contract/harness.fixture.js';
import { killChild, startChild } from './support/child.js';

describe('a process that shares a journal with one whose clock is wrong', () => {
  let dir: string;
  let path: string;
  let store: JournalStore;
  const self = systemLiveness.self();
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-clocks-'));
    path = join(dir, 'journal.db');
    store = await openStore(`sqlite:${path}`, { dataDir: dir });
  });
  afterEach(async () => {
    await store.close();
    rmSync(dir, { recursive: true });
  });

  test('executes nothing while that one runs, and names both of them', async () => {
    const child = await startChild('register', { path, wrongByMs: 60_000 });
    await store.registerOwner({ ...owner(), ...self }, DAY);
    const refusal: unknown = await store.claim(request()).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'JournalError', reason: 'clock' });
    for (const pid of [process.pid, child.pid]) {
      expect((refusal as Error).message).toContain(`(pid ${pid} on `);
    }
    await killChild(child);
    expect(await store.renew('alice', DAY)).toBe(true);
    expect((await store.claim(request())).kind).toBe('mine');
  });

  // Without process states in the system, a stopped process counts as running.
  test.runIf(self.startedAt !== '')('continues while that one is stopped', async () => {
    const child = await startChild('register', { path, wrongByMs: 60_000 });
    const registered = (await store.owner('child'))!;
    expect(systemProcesses.isRunning(registered)).toBe(true);
    child.kill('SIGSTOP');
    await expect.poll(() => systemProcesses.isRunning(registered)).toBe(false);
    expect(systemLiveness.isAlive(registered)).toBe(true);
    await store.registerOwner({ ...owner(), ...self }, DAY);
    expect((await store.claim(request())).kind).toBe('mine');
    await killChild(child);
    expect(systemProcesses.isRunning(registered)).toBe(false);
  });
});
