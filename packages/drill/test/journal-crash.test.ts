import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@toolkeel/journal';
import { testJournal } from '@toolkeel/journal/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  isBeforeSending,
  matrixCases,
  runCases,
  violationsOf,
  type MatrixResult,
} from './support/matrix.js';
import { startServer } from '../src/journal/calls.js';
import { bundledLaunch, type Launch } from '../src/journal/launch.js';
import type { StopInstruction, ServerSettings } from '../src/journal/server/faults.js';
import { startEffectsUpstream, type EffectsUpstream } from '../src/journal/upstream.js';

const journals = {
  sqlite: (dir: string) => Promise.resolve({ url: `sqlite:${join(dir, 'journal.db')}` }),
  postgres: () => testJournal(),
};

let launch: Launch;
beforeAll(async () => {
  launch = await bundledLaunch('bundled-crash');
});

describe.each(['sqlite', 'postgres'] as const)('on %s', (kind) => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-crash-'));
  let upstream: EffectsUpstream;
  let settings: ServerSettings;

  beforeAll(async () => {
    upstream = await startEffectsUpstream({ seed: 1, faultRate: 0 });
    const { url: journal } = await journals[kind](dir);
    const of = { upstream: upstream.url, journal, dataDir: dir };
    settings = { ...of, leaseMs: 4_000, callTimeoutMs: 30_000 };
  }, 120_000);

  afterAll(async () => {
    await upstream.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('executes at most once wherever the server is killed, and reports every knowable outcome', async () => {
    const results: MatrixResult[] = [];
    for (const cases of matrixCases())
      results.push(...(await runCases(cases, settings, upstream, kind, launch)));

    const violations = results.flatMap((result) =>
      violationsOf(result).map((what) => `${result.tool}, killed ${result.point}: ${what}`),
    );
    expect(violations).toEqual([]);
    // Only what cannot be read back stays unknown.
    const pointsOf = (some: readonly MatrixResult[]) => some.map(({ point }) => point);
    expect(pointsOf(results.filter(({ end }) => end.kind === 'unknown'))).toEqual(
      pointsOf(
        results.filter(({ tool, point }) => tool === 'act_blindly' && !isBeforeSending(point)),
      ),
    );

    const store = await openStore(settings.journal, { dataDir: dir });
    try {
      expect(await store.list({ states: ['claimed', 'sending'] }), 'unsettled operations').toEqual(
        [],
      );
    } finally {
      await store.close();
    }
  }, 300_000);

  const stopped = async (point: StopInstruction['point'], tool: string, key: string) => {
    const stop: StopInstruction = { point, nth: 1, signal: 'SIGSTOP' };
    const stoppedServer = await startServer({ ...settings, stop }, launch);
    const first = stoppedServer.call(tool, { key }, 100_000);
    const successor = await startServer(settings, launch);
    const repeat = () => successor.call(tool, { key }, 45_000);
    const answerOtherThan = async (...codes: string[]) => {
      for (;;) {
        const reply = await repeat();
        if (reply.kind !== 'answer') throw new Error(`no answer: ${reply.kind}`);
        if (!codes.includes(reply.envelope.error?.code ?? '')) return reply.envelope;
      }
    };
    const meanwhile = await answerOtherThan('idempotency_in_flight');
    stoppedServer.kill('SIGCONT');
    const late = await first;
    // Until the outcome is reconciled, however long that takes on a busy machine.
    const afterwards = await answerOtherThan('idempotency_in_flight', 'outcome_unknown');
    for (const server of [stoppedServer, successor]) server.kill('SIGTERM');
    await Promise.all([stoppedServer.exited, successor.exited]);
    const effects = (await upstream.effects()).filter((effect) => effect.key === key);
    return { meanwhile, late, afterwards, effects };
  };

  it('sends nothing after it was stopped before sending and continued after its lease expired', async () => {
    const { meanwhile, afterwards, effects } = await stopped(
      'before-sending',
      'act',
      `${kind}:slept`,
    );
    expect(effects).toHaveLength(1);
    expect(meanwhile).toMatchObject({ success: true, data: { id: effects[0]?.id } });
    expect(afterwards).toMatchObject({ success: true, data: { id: effects[0]?.id } });
  }, 120_000);

  it('reports an unknown outcome while it is stopped after the send was recorded, and the result afterwards', async () => {
    const { meanwhile, afterwards, effects } = await stopped(
      'after-sending',
      'act',
      `${kind}:gone`,
    );
    // The stopped server may still send, so that an empty read-back proves nothing.
    expect(meanwhile.error?.code).toBe('outcome_unknown');
    expect(effects).toHaveLength(1);
    expect(afterwards).toMatchObject({ success: true, data: { id: effects[0]?.id } });
  }, 120_000);
});
