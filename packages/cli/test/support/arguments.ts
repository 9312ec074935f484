import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envelopeSchema, parseInput, type ToolSpec } from '@toolkeel/contract';
import { argumentsOf } from '@toolkeel/pack-kit/testing';
import { startStacSandbox, type StacSandbox } from '@toolkeel/sandbox';
import { stac } from '@toolkeel/stac';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Connected, type Envelope, overStdio } from './client.js';
import { writeStacConfig } from './stac.js';

type Args = Record<string, unknown>;

/** Values close to what the tools accept. */
const values: readonly unknown[] = [
  '[1,2,3,4]',
  '{"type":"Point","coordinates":[0,0]}',
  '2024-06',
  '2024-06-01/..',
  'latest',
  'sentinel-2-l2a',
  '-properties.datetime',
  'eo:cloud_cover < 10',
  'json',
  '\u{1F30D}',
  '\uD83C',
  '5',
  501,
  1e300,
  [10, 45, 11, 50],
  [10, 50, 11, 45],
  [170, -10, -170, 10],
  ['sentinel-2-l2a'],
  ['sentinel-2-l2a', 5],
  { type: 'Polygon', coordinates: [] },
  { type: 'Point', coordinates: [10, 50] },
  { include: 5 },
  { include: ['properties.datetime'] },
  { 'eo:cloud_cover': { lt: 10 } },
  { op: '<', args: [{ property: 'eo:cloud_cover' }, 10] },
];

/** Local addresses only: a public one would be requested. */
const addresses = [
  'http://127.0.0.1/',
  'http://[::1]:1/',
  'http://10.0.0.1/',
  'file:///etc/passwd',
];

/** A lone surrogate is refused independently of the schema. */
const isWellFormed = (args: Args): boolean => !/\\ud[89a-f]/.test(JSON.stringify(args));

/** Random arguments of a tool, split by its schema. */
export function fuzzArguments(
  { input, inputSchema }: ToolSpec,
  count: number,
  seed: number,
): { readonly refused: Args[]; readonly accepted: Args[] } {
  const address = fc.constantFrom<unknown>(...addresses, 5);
  const given = fc
    .tuple(argumentsOf({ inputSchema }, values), address)
    .map(([args, url]) =>
      Object.hasOwn(args, 'catalog_url') ? { ...args, catalog_url: url } : args,
    );
  const made: readonly Args[] = fc.sample(given, { numRuns: count, seed });
  const isRefused = (args: Args): boolean =>
    !isWellFormed(args) || !parseInput({ input, inputSchema }, args).parsed.success;
  return {
    refused: made.filter(isRefused),
    accepted: made.filter((args) => !isRefused(args)),
  };
}

/** Calls a tool with all arguments concurrently, and returns the results in order. */
export async function callAll(
  client: Connected,
  tool: string,
  all: readonly Args[],
  workers = 8,
): Promise<Envelope[]> {
  const answers: Envelope[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < all.length) {
      const index = next++;
      answers[index] = await client.call(tool, all[index]);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return answers;
}

/** Changes daily; set the printed value to reproduce a failure. */
const SEED = Number(process.env['TOOLKEEL_FUZZ_SEED'] ?? Math.floor(Date.now() / 86_400_000));

/** Random arguments, through a running server on stdio. */
export function describeArguments(runs: number): void {
  describe(`${runs} random arguments of each tool (TOOLKEEL_FUZZ_SEED=${SEED})`, () => {
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
      '%s: no upstream request for refused arguments, a valid envelope for all',
      async (name, spec) => {
        const { refused, accepted } = fuzzArguments(spec, runs, SEED);
        expect(refused.length).toBeGreaterThan(runs / 10);
        expect(accepted.length).toBeGreaterThan(runs / 50);
        upstream.clearLog();
        const refusals = await callAll(client, name, refused);
        expect(upstream.counts().requests).toBe(0);
        for (const [index, envelope] of refusals.entries()) {
          const args = refused[index];
          expect({ args, envelope }).toMatchObject({
            envelope: { success: false, error: { code: 'validation_error', retryable: false } },
          });
          expect({ args, error: envelopeSchema.safeParse(envelope).error }).toEqual({ args });
        }
        const answers = await callAll(client, name, accepted);
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

    it('do not stop the server', async () => {
      expect(await client.call('get_root')).toMatchObject({ success: true });
    });
  });
}
