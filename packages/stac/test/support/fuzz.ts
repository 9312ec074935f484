import { envelopeSchema, parseInput } from '@toolkeel/contract';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { World } from './world.js';

/** Values that are near to what a schema wants, and far from it. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    '',
    '[',
    '[1,2,3]',
    '{"type":"Point"}',
    'http://127.0.0.1/',
    'file:///x',
    '2024-06-31',
    '..',
    'a'.repeat(9000),
    -1,
    0,
    1e9,
    1.5,
    [],
    [0, 0, 0],
    [10, 50, 11, 45],
    {},
    { type: 'Polygon', coordinates: [] },
    { include: 5 },
    '__proto__',
  ),
);

/** Puts made-up arguments to every tool: those that its schema refuses must not reach a server. */
export async function fuzzArguments({ rig, server }: World, runs: number): Promise<void> {
  for (const tool of rig.instance.tools) {
    const shape = Object.keys(tool.input.shape).filter((name) => name !== 'catalog_url');
    const args = fc.dictionary(fc.constantFrom(...shape, 'unknown'), value, { maxKeys: 5 });
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        const isRefused = !parseInput(tool, given).parsed.success;
        const before = server.seen.length;
        const envelope = await rig.run(tool.name, given);
        expect(envelopeSchema.safeParse(envelope).success).toBe(true);
        if (!isRefused) return;
        refused++;
        expect(envelope).toMatchObject({ success: false, error: { code: 'validation_error' } });
        expect(server.seen.length).toBe(before);
      }),
      { numRuns: runs },
    );
    expect(refused).toBeGreaterThan(runs / 4);
  }
}
