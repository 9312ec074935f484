import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@toolkeel/journal';
import { testJournal } from '@toolkeel/journal/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violationsOf, matrixCases, runCase, type MatrixResult } from './support/matrix.js';
import { startServer } from '../src/journal/calls.js';
import {
  killPoints,
  type StopInstruction,
  type ServerSettings,
} from '../src/journal/server/faults.js';
import { startEffectsUpstream, type EffectsUpstream } from '../src/journal/upstream.js';

const CONCURRENT = 4;

const journals = {
  sqlite: (dir: string) => Promise.resolve({ url: `sqlite:${join(dir, 'journal.db')}` }),
  postgres: () => testJournal(),
};

describe.each(['sqlite', 'postgres'] as const)('on %s', (kind) => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-crash-'));
  let upstream: EffectsUpstream;
  let settings: ServerSettings;

  beforeAll(async () => {
    upstream = await startEffectsUpstream({ seed: 1, faultRate: 0 });
    const { url: journal } = await journals[kind](dir);
    const of = { upstream: upstream.url, journal, dataDir: dir };
    settings = { ...of, leaseMs: 1_500, callTimeoutMs: 10_000 };
  }, 120_000);

  afterAll(async () => {
    await upstream.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('executes at most once wherever the server is killed, and reports every knowable outcome', async () => {
    const cases = [...matrixCases()];
    const results: MatrixResult[] = [];
    const work = async (): Promise<void> => {
      for (let next = cases.shift(); next !== undefined; next = cases.shift()) {
        results.push(await runCase(next, settings, upstream, kind));
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, work));

    const violations = results.flatMap((result) =>
      violationsOf(result).map((what) => `${result.tool}, killed ${result.point}: ${what}`),
    );
    expect(violations).toEqual([]);
    console.log(sharesOfUnknown(kind, results));

    const store = await openStore(settings.journal, { dataDir: dir });
    try {
      expect(await store.list({ states: ['claimed', 'sending'] }), 'unsettled operations').toEqual(
        [],
      );
    } finally {
      await store.close();
    }
  }, 180_000);

  const stopped = async (point: StopInstruction['point'], tool: string, key: string) => {
    const stop: StopInstruction = { point, nth: 1, signal: 'SIGSTOP' };
    const stoppedServer = await startServer({ ...settings, stop });
    const first = stoppedServer.call(tool, { key }, 60_000);
    const successor = await startServer(settings);
    const repeat = () => successor.call(tool, { key }, 15_000);
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
  }, 60_000);

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
  }, 60_000);
});

/** The number of unknown outcomes by kill point, for the test log. */
function sharesOfUnknown(kind: string, results: readonly MatrixResult[]): string {
  const lines = killPoints.map((point) => {
    const there = results.filter((result) => result.point === point);
    const unknown = there.filter(({ end }) => end.kind === 'unknown').length;
    return `  ${point.padEnd(22)} ${unknown} of ${there.length}`;
  });
  return [`unknown outcomes on ${kind}, by kill point:`, ...lines].join('\n');
}
