import { afterAll, expect, it } from 'vitest';
import { cleanUp, newChaos } from './support/chaos.js';
import { openGuard } from './support/guarded.js';
import { callUnderKills } from './support/kills.js';

afterAll(cleanUp);

it('calls succeed while the upstream is killed, and no mutation is executed twice', async () => {
  const chaos = newChaos();
  const guard = await openGuard({
    chaos,
    face: 'stdio',
    upstream: 'stdio',
    revision: '2025-11-25',
  });
  const options = { total: 200, inFlight: 8, callsPerKill: 40, seed: 18 };
  const { calls, kills } = await callUnderKills(guard, chaos, options);
  expect(kills).toBeGreaterThan(1);
  expect(chaos.starts().length).toBeGreaterThan(kills);
  expect(calls).toHaveLength(200);
  const reads = calls.filter(({ tool }) => tool === 'read');
  expect(reads.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
  const writes = calls.filter(({ tool }) => tool === 'write');
  expect(writes.filter(({ effects }) => effects > 1)).toEqual([]);
  expect(writes.filter(({ outcome, effects }) => outcome === 'ok' && effects !== 1)).toEqual([]);
  // What is reported as unknown is unknown: it was sent when the upstream was killed.
  expect(writes.filter(({ outcome }) => outcome !== 'ok').length).toBeLessThanOrEqual(8 * kills);
  expect(guard.inbox.problems).toEqual([]);
  await guard.close();
});
