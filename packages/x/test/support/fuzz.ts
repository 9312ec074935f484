import { envelopeSchema, parseInput } from '@toolkeel/contract';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { World } from './world.js';

/** Values that are near to what a schema wants, and far from it. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    null,
    '',
    '1',
    '01',
    '-1',
    '1'.repeat(20),
    1,
    0,
    1e9,
    1.5,
    [],
    ['1'],
    ['1', '1'],
    [['1']],
    [[]],
    'https://example.com',
    '../../etc/passwd',
    'a'.repeat(26_000),
    '@name',
    '2026-01-01T00:00:00Z',
    'yesterday',
    { options: ['a', 'b'], duration_minutes: 5 },
    {},
    true,
    '\uFEFF',
    '__proto__',
  ),
);

/** Puts made-up arguments to every tool: those that its schema refuses must not reach X. */
export async function fuzzArguments({ rig, server }: World, runs: number): Promise<void> {
  for (const tool of rig.instance.tools) {
    const shape = Object.keys(tool.input.shape);
    const args = fc.dictionary(fc.constantFrom(...shape, 'unknown'), value, { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        const isRefused = !parseInput(tool, given).parsed.success;
        const before = server.seen.length;
        const envelope = await rig.run(tool.name, given);
        expect(envelopeSchema.safeParse(envelope).success).toBe(true);
        if (!isRefused) return;
        expect(envelope).toMatchObject({ success: false, error: { code: 'validation_error' } });
        expect(server.seen.length).toBe(before);
      }),
      { numRuns: runs },
    );
  }
}
