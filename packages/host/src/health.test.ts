import type { Pack, PackHealth } from '@toolkeel/contract';
import { expect, it, vi } from 'vitest';
import * as z from 'zod';
import { LoadedPack } from './catalog/loaded-pack.js';
import { createProbe } from './health.js';

const setUp = async (health: () => Promise<PackHealth>) => {
  let time = 0;
  const pack: Pack = {
    name: 'p',
    configSchema: z.strictObject({}),
    describe: () => [],
    create: () => Promise.resolve({ tools: [], health, close: () => Promise.resolve() }),
  };
  const deps = { now: () => 0, random: () => 0, log: () => {}, observe: () => {} };
  const loaded = new LoadedPack({ pack }, () => true, deps);
  const probe = createProbe([loaded], () => time);
  return { loaded, probe, wait: (ms: number) => (time += ms) };
};

it('a probe does not create a pack that is not used yet', async () => {
  const health = vi.fn(() => Promise.resolve({ ok: true, detail: 'fine' }));
  const { probe, loaded } = await setUp(health);
  expect(await probe()).toEqual({ ok: true, packs: { p: { ok: true, detail: 'not used yet' } } });
  expect(health).not.toHaveBeenCalled();
  await loaded.prompts();
  // That a pack is not created yet is not cached.
  expect(await probe()).toMatchObject({ packs: { p: { detail: 'fine' } } });
});

it('concurrent probes share one health check', async () => {
  let respond = (_: PackHealth): void => {};
  const health = vi.fn(() => new Promise<PackHealth>((resolve) => (respond = resolve)));
  const { probe, loaded, wait } = await setUp(health);
  await loaded.prompts();
  const first = Array.from({ length: 20 }, probe);
  await vi.waitFor(() => expect(health).toHaveBeenCalled(), { timeout: 30_000 });
  // The cache starts when the result is known.
  wait(60_000);
  const later = Array.from({ length: 20 }, probe);
  respond({ ok: false, detail: 'down' });
  const states = await Promise.all([...first, ...later]);
  expect(health).toHaveBeenCalledOnce();
  expect(states.every(({ ok, packs }) => !ok && packs['p']?.detail === 'down')).toBe(true);
});

it('a result is cached for ten seconds', async () => {
  const health = vi
    .fn(() => Promise.resolve({ ok: true, detail: 'fine' }))
    .mockResolvedValueOnce({ ok: false, detail: 'down' });
  const { probe, loaded, wait } = await setUp(health);
  await loaded.prompts();
  expect(await probe()).toMatchObject({ ok: false });
  wait(9_999);
  expect(await probe()).toMatchObject({ ok: false });
  expect(health).toHaveBeenCalledOnce();
  wait(1);
  expect(await probe()).toMatchObject({ ok: true });
  expect(health).toHaveBeenCalledTimes(2);
});
