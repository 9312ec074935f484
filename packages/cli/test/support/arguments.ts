import { envelopeSchema, parseInput, type ToolSpec } from '@toolkeel/contract';
import fc from 'fast-check';
import { type Connected, type Envelope, overStdio } from './client.js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStacSandbox, type StacSandbox } from '@toolkeel/sandbox';
import { stac } from '@toolkeel/stac';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeStacConfig } from './stac.js';

type Args = Record<string, unknown>;

/** Values that are near to what a schema of these tools wants, and far from it. */
const pool: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  '[',
  '[1,2,3,4]',
  '{"type":"Point","coordinates":[0,0]}',
  '2024-06',
  '2024-06-31',
  '2024-06-01/..',
  '../..',
  'latest',
  'sentinel-2-l2a',
  '-properties.datetime',
  'eo:cloud_cover < 10',
  'json',
  '\u{1F30D}',
  '\uD83C',
  '\u0000',
  '__proto__',
  'a'.repeat(9000),
  '5',
  -1,
  0,
  1,
  1.5,
  501,
  1e9,
  1e300,
  [],
  [0, 0, 0],
  [10, 45, 11, 50],
  [10, 50, 11, 45],
  [170, -10, -170, 10],
  ['sentinel-2-l2a'],
  ['sentinel-2-l2a', 5],
  [[[]]],
  {},
  { type: 'Polygon', coordinates: [] },
  { type: 'Point', coordinates: [10, 50] },
  { include: 5 },
  { include: ['properties.datetime'] },
  { 'eo:cloud_cover': { lt: 10 } },
  { op: '<', args: [{ property: 'eo:cloud_cover' }, 10] },
  { constructor: { prototype: 1 } },
];

/** Nothing that leads out of this machine: what is public is asked for. */
const addresses = [
  'http://127.0.0.1/',
  'http://[::1]:1/',
  'http://10.0.0.1/',
  'file:///etc/passwd',
];

/** Half a character is written as an escape, and refused whatever the schema says. */
const isSound = (args: Args): boolean => !/\\ud[89a-f]/.test(JSON.stringify(args));

/** Made-up arguments of a tool, parted by what its own schema says to them. */
export function fuzzArguments(
  { input, inputSchema }: ToolSpec,
  count: number,
  seed: number,
): { readonly refused: Args[]; readonly accepted: Args[] } {
  const names = Object.keys(input.shape);
  const value = fc.oneof(
    { arbitrary: fc.constantFrom(...pool), weight: 3 },
    { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 1 },
  );
  const member = fc.constantFrom(...names, ...names, 'unknown', '__proto__').chain((name) => {
    const values = name === 'catalog_url' ? fc.constantFrom<unknown>(...addresses, 5) : value;
    return fc.tuple(fc.constant(name), values);
  });
  // What must be there is there most of the time, so that some are accepted.
  const required = (inputSchema['required'] ?? []) as readonly string[];
  const base = fc.tuple(
    ...required.map((name) =>
      fc.tuple(fc.constant(name), fc.oneof(fc.constant('sentinel-2-l2a'), value)),
    ),
  );
  const members = fc.tuple(base, fc.array(member, { maxLength: 4 }));
  // Not Object.fromEntries: `__proto__` shall be a member like any other.
  const written = (entries: readonly (readonly [string, unknown])[]): string =>
    `{${entries.map(([name, given]) => `${JSON.stringify(name)}:${JSON.stringify(given)}`).join()}}`;
  const made = fc
    .sample(members, { numRuns: count, seed })
    .map((parts) => JSON.parse(written(parts.flat())) as Args);
  const isRefused = (args: Args): boolean =>
    !isSound(args) || !parseInput({ input, inputSchema }, args).parsed.success;
  return {
    refused: made.filter(isRefused),
    accepted: made.filter((args) => !isRefused(args)),
  };
}

/** Puts all of them to a server, some at once, and gives the answers in their order. */
export async function answersTo(
  client: Connected,
  tool: string,
  all: readonly Args[],
  lanes = 8,
): Promise<Envelope[]> {
  const answers: Envelope[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < all.length) {
      const index = next++;
      answers[index] = await client.call(tool, all[index]);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return answers;
}

/** Another one every day, and the same for whoever repeats a failure with what it prints. */
const SEED = Number(process.env['TOOLKEEL_FUZZ_SEED'] ?? Math.floor(Date.now() / 86_400_000));

/** Made-up arguments, through a running server on stdio. */
export function describeArguments(runs: number): void {
  describe(`${runs} made-up arguments of each tool (TOOLKEEL_FUZZ_SEED=${SEED})`, () => {
    let dir: string;
    let upstream: StacSandbox;
    let client: Connected;

    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'toolkeel-arguments-'));
      upstream = await startStacSandbox({ scale: 0.05 });
      const { url, assetsUrl } = upstream;
      writeStacConfig(dir, { box: { url, trustedOrigins: [new URL(assetsUrl).origin] } });
      client = await overStdio(['stac'], { cwd: dir, env: { TOOLKEEL_DATA_DIR: dir } });
    }, 60_000);

    afterAll(async () => {
      await client.close();
      await upstream.close();
      rmSync(dir, { recursive: true, force: true });
    });

    it.each(stac.describe().map((spec) => [spec.name, spec] as const))(
      '%s: no request for those that are refused, a valid answer for all',
      async (name, spec) => {
        const { refused, accepted } = fuzzArguments(spec, runs, SEED);
        expect(refused.length).toBeGreaterThan(runs / 10);
        expect(accepted.length).toBeGreaterThan(runs / 50);
        upstream.clearLog();
        const refusals = await answersTo(client, name, refused);
        expect(upstream.counts().requests).toBe(0);
        for (const [index, envelope] of refusals.entries()) {
          const args = refused[index];
          expect({ args, envelope }).toMatchObject({
            envelope: { success: false, error: { code: 'validation_error', retryable: false } },
          });
          expect({ args, error: envelopeSchema.safeParse(envelope).error }).toEqual({ args });
        }
        const answers = await answersTo(client, name, accepted);
        for (const [index, envelope] of answers.entries()) {
          const args = accepted[index];
          expect({ args, error: envelopeSchema.safeParse(envelope).error }).toEqual({ args });
          expect({ args, code: envelope.error?.code }).not.toMatchObject({
            code: expect.stringMatching(/internal_error|serialization_error|validation_error/),
          });
        }
        expect(client.stderr()).not.toContain('"event":"unexpected"');
      },
      600_000,
    );

    it('leave the server alive', async () => {
      expect(await client.call('get_root')).toMatchObject({ success: true });
    });
  });
}
