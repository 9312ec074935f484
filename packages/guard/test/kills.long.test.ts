import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, newChaos } from './support/chaos.js';
import { revisions } from './support/frames.js';
import { openGuard } from './support/guarded.js';
import { callUnderKills, countBy } from './support/kills.js';

afterAll(cleanUp);

const total = 2000;
const deadlineMs = 300_000;

describe.each(revisions)(
  '2,000 mixed calls while the upstream is killed at random, %s',
  (revision) => {
    it('99 % of the reads succeed, no mutation is executed twice', async () => {
      const chaos = newChaos();
      const guard = await openGuard({ chaos, face: 'stdio', upstream: 'stdio', revision });
      const options = { total, inFlight: 16, callsPerKill: 40, seed: 2000 };
      const { calls, kills } = await callUnderKills(guard, chaos, options);
      const reads = calls.filter(({ tool }) => tool === 'read');
      const writes = calls.filter(({ tool }) => tool === 'write');
      console.log(
        JSON.stringify({
          kills,
          starts: chaos.starts().length,
          reads: countBy(reads.map(({ outcome }) => outcome)),
          writes: countBy(writes.map(({ outcome, effects }) => `${outcome}: ${effects} effects`)),
        }),
      );
      expect(kills).toBeGreaterThan(20);
      expect(calls).toHaveLength(total);
      const succeeded = reads.filter(({ outcome }) => outcome === 'ok');
      expect(succeeded.length / reads.length).toBeGreaterThanOrEqual(0.99);
      expect(calls.filter(({ elapsedMs }) => elapsedMs > deadlineMs)).toEqual([]);
      expect(writes.filter(({ effects }) => effects > 1)).toEqual([]);
      expect(writes.filter(({ outcome, effects }) => outcome === 'ok' && effects !== 1)).toEqual(
        [],
      );
      const notExecuted = writes.filter(({ outcome }) => outcome.endsWith('not_executed'));
      expect(notExecuted.filter(({ effects }) => effects > 0)).toEqual([]);
      expect(guard.inbox.problems).toEqual([]);
      await guard.close();
    });
  },
);
