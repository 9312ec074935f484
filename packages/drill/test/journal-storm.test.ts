import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testJournal } from '@toolkeel/journal/testing';
import { expect, it } from 'vitest';
import { broken, storm, type StormPlan, tallyOf } from '../src/journal/storm.js';
import { startUpstreamProcess } from '../src/journal/upstream/process.js';

/** 4 processes × 25 callers × 20 keys: every caller asks for every act. */
const plan: StormPlan = {
  servers: 4,
  callersPerServer: 25,
  groups: 1,
  actsPerCaller: 20,
  tools: ['act'],
  killEveryCalls: 150,
  timeoutMs: 15_000,
  seed: 7,
  name: 'storm',
};
const none = { effects: 0, acts: 0, duplicates: 0 };

async function stormOn(journal: (dir: string) => Promise<string>, faultRate = 0.3) {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-storm-'));
  const upstream = await startUpstreamProcess({
    log: join(dir, 'effects.jsonl'),
    seed: 7,
    faultRate,
  });
  try {
    const settings = { upstream: upstream.url, journal: await journal(dir), dataDir: dir };
    const result = await storm(plan, { ...settings, leaseMs: 3_000, callTimeoutMs: 10_000 });
    const perAct = new Map<string, string[]>();
    for (const { key, id } of upstream.effects()) perAct.set(key, [...(perAct.get(key) ?? []), id]);
    return { result, perAct, tally: tallyOf(result, none, await upstream.counts()) };
  } finally {
    await upstream.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

it('shows duplicates without a journal, or it would prove nothing', async () => {
  const { tally } = await stormOn(() => Promise.resolve('off'));
  expect(tally.duplicates).toBeGreaterThan(0);
}, 120_000);

it.each([
  ['sqlite', (dir: string) => Promise.resolve(`sqlite:${join(dir, 'journal.db')}`)],
  ['postgres', async () => (await testJournal()).url],
] as const)(
  'acts once for each key and answers every caller in time, on %s',
  async (_, journal) => {
    const { result, perAct, tally } = await stormOn(journal);
    expect(broken(tally)).toEqual([]);
    expect(tally.deaths).toBeGreaterThan(3);
    expect(tally.calls).toBeGreaterThanOrEqual(2_000);
    expect([...perAct.values()].map((ids) => ids.length)).toEqual(
      Array(plan.actsPerCaller).fill(1),
    );
    expect([...result.told].map(([key, id]) => [key, [id]])).toEqual(
      [...result.told.keys()].map((key) => [key, perAct.get(key)]),
    );
  },
  180_000,
);
