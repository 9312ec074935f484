import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testJournal } from '@toolkeel/journal/testing';
import { beforeAll, expect, it } from 'vitest';
import { type KillTestPlan, runKillTest, violations } from '../src/journal/kill-test.js';
import { bundledLaunch, type Launch } from '../src/journal/launch.js';
import { startEffectsUpstream } from '../src/journal/upstream.js';

/** 4 processes × 25 callers × 20 keys: every caller requests every operation. */
const plan: Omit<KillTestPlan, 'launch'> = {
  servers: 4,
  callersPerServer: 25,
  groups: 1,
  actsPerCaller: 20,
  tools: ['act'],
  killEveryCalls: 150,
  timeoutMs: 60_000,
  seed: 7,
  name: 'kill',
};

let launch: Launch;
beforeAll(async () => {
  launch = await bundledLaunch('bundled-kill');
});

async function killTestOn(
  journal: (dir: string) => Promise<string>,
  few: Partial<KillTestPlan> = {},
) {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-kill-'));
  const upstream = await startEffectsUpstream({ seed: 7, faultRate: 0.3 });
  try {
    const settings = {
      upstream: upstream.url,
      journal: await journal(dir),
      dataDir: dir,
      leaseMs: 3_000,
      callTimeoutMs: 50_000,
    };
    const { totals, reportedIds } = await runKillTest(
      { ...plan, ...few, launch },
      settings,
      upstream,
    );
    const perAct = new Map<string, string[]>();
    for (const { key, id } of await upstream.effects())
      perAct.set(key, [...(perAct.get(key) ?? []), id]);
    return { totals, reportedIds, perAct };
  } finally {
    await upstream.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

it('shows duplicates without a journal, so that the test is meaningful', async () => {
  const few = { servers: 2, callersPerServer: 4, actsPerCaller: 2 };
  const { totals } = await killTestOn(() => Promise.resolve('off'), few);
  expect(totals.duplicates).toBeGreaterThan(0);
}, 120_000);

it.each([
  ['sqlite', (dir: string) => Promise.resolve(`sqlite:${join(dir, 'journal.db')}`)],
  ['postgres', async () => (await testJournal()).url],
] as const)(
  'executes each key once and answers every caller in time, on %s',
  async (_, journal) => {
    const { totals, reportedIds, perAct } = await killTestOn(journal);
    expect(violations(totals)).toEqual([]);
    expect(totals.deaths).toBeGreaterThan(3);
    expect(totals.calls).toBeGreaterThanOrEqual(2_000);
    expect([...perAct.values()].map((ids) => ids.length)).toEqual(
      Array(plan.actsPerCaller).fill(1),
    );
    expect([...reportedIds].map(([key, id]) => [key, [id]])).toEqual(
      [...reportedIds.keys()].map((key) => [key, perAct.get(key)]),
    );
  },
  300_000,
);
