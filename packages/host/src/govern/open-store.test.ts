import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { ConfigError } from '../config/config-error.js';
import { loadConfig } from '../config/load.js';
import { openJournalStore } from './open-store.js';

const HOUR_MS = 3_600_000;

const load = (journal: object) =>
  loadConfig({
    cwd: tmpdir(),
    env: {},
    packs: [],
    flags: { journal: { url: 'memory:', ...journal } },
  });

const journalingOf = async (journal: object) => {
  const { store, journaling } = await openJournalStore(load(journal));
  await store.close();
  return journaling;
};

it('gives the times of the configuration to the journal, in milliseconds', async () => {
  expect(await journalingOf({ retentionDays: 2, undeliveredHoldHours: 1.5 })).toMatchObject({
    retentionMs: 48 * HOUR_MS,
    undeliveredHoldMs: 1.5 * HOUR_MS,
  });
});

it('leaves the defaults to the journal', async () => {
  const { retentionMs, undeliveredHoldMs } = await journalingOf({});
  expect([retentionMs, undeliveredHoldMs]).toEqual([undefined, undefined]);
});

it.each([0, -1, 721, '12'])('refuses undeliveredHoldHours: %j', (undeliveredHoldHours) => {
  expect(() => load({ undeliveredHoldHours })).toThrow(ConfigError);
});
