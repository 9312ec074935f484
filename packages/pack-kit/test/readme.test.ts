import {
  createPackRig,
  faultMatrix,
  fuzzTools,
  observeCodes,
  startScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamFault,
} from '@toolkeel/pack-kit/testing';
import { expect, it } from 'vitest';
import { pack } from '../src/readme.fixture.js';

process.env['TICKETS_TOKEN'] = 'secret-token-1';
const specs = pack.describe();

/** The pack, with the upstream in place of the real one. */
const start = (upstream: ScriptedUpstream, fault?: UpstreamFault) =>
  createPackRig(pack, {
    baseUrl: upstream.origin,
    token: { env: 'TICKETS_TOKEN' },
    maxRetries: 1,
    // Only a stalled upstream is waited for.
    ...(fault?.kind === 'timeout' && { toolTimeoutSecs: 3, attemptTimeoutSecs: 0.5 }),
  });

it('a lost answer is reported as unknown, and the request is not repeated', async () => {
  const upstream = await startScriptedUpstream(() => ({ act: 'reset' }));
  const rig = await start(upstream);
  expect(await rig.code('create_ticket', { title: 'a' })).toBe('outcome_unknown');
  expect(upstream.requests).toHaveLength(1);
  await rig.close();
  await upstream.close();
});

it('every tool answers any arguments with a valid envelope', async () => {
  const ticket = { id: '7', title: 'a' };
  const upstream = await startScriptedUpstream(({ method }) => ({
    json: method === 'POST' ? ticket : [ticket],
  }));
  const rig = await start(upstream);
  await expect(fuzzTools({ rig, upstream, runs: 60 })).resolves.toBeUndefined();
  await rig.close();
  await upstream.close();
});

it('every tool has the right code under every fault, and declares exactly those codes', async () => {
  const cells = await faultMatrix({
    specs,
    start,
    argumentsOf: (tool) => (tool === 'create_ticket' ? { title: 'a' } : {}),
    maxRetries: 1,
    // codeOf: for a pack with a mapping of its own
  });
  const observed = observeCodes(specs);
  for (const { tool, code } of cells) observed.note(tool, code);
  // Only a failing upstream over a longer time opens the circuit.
  for (const { name } of specs) observed.note(name, 'circuit_open');
  expect(observed.verify).not.toThrow();
}, 60_000);
