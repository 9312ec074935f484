import { buildManifest, checkObservedCodes, type ObservedCode } from '@toolkeel/contract';
import { llm } from '@toolkeel/llm';
import type { FaultKind } from '@toolkeel/sandbox';
import { expect, it } from 'vitest';
import { packOf, type Rig } from './support/pack.js';
import { sandboxOf } from './support/rig.js';

const faults: readonly (readonly [FaultKind, string, object])[] = [
  ['http-503', 'llm_error', { retryable: true, details: { provider: 'gemini', status: 503 } }],
  ['http-400', 'upstream_rejected', { retryable: false, details: { reason: 'invalid_request' } }],
  ['llm-billing', 'upstream_rejected', { retryable: false, details: { reason: 'billing' } }],
  ['llm-blocked', 'upstream_rejected', { details: { reason: 'blocked' } }],
  ['llm-429-day', 'rate_limited', { details: { final: true } }],
  ['http-401', 'unauthorized', { retryable: false }],
];

it('error codes are exactly those that each tool declares', async () => {
  const observed: ObservedCode[] = [];
  const note = async (rig: Rig, tool: string, args: object, code: string, facts: object = {}) => {
    const { error } = await rig.run(tool, args);
    expect(error).toMatchObject({ code, ...facts });
    observed.push({ tool, code });
  };
  const sandbox = await sandboxOf();
  const config = { providers: ['gemini' as const], maxRetries: 0 };
  for (const [kind, code, facts] of faults) {
    sandbox.setFaults([{ kind }]);
    await note(await packOf(sandbox, config), 'llm_complete', { prompt: 'Why?' }, code, facts);
  }
  sandbox.setFaults([]);
  const claude = await packOf(sandbox, { providers: ['claude'], maxRetries: 0 });
  const hot = { prompt: 'Why?', temperature: 1 };
  await note(claude, 'llm_complete', hot, 'unsupported_by_upstream');
  const none = await packOf(undefined);
  await note(none, 'llm_complete', { prompt: 'Why?' }, 'llm_not_configured', { retryable: false });
  await note(none, 'llm_models', {}, 'llm_not_configured');
  const manifest = buildManifest(llm.describe());
  expect(checkObservedCodes(manifest, observed)).toEqual({ unlisted: [], unseen: [] });
});
