import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envelopeSchema } from '@toolkeel/contract';
import { startStacSandbox, type StacSandbox } from '@toolkeel/sandbox';
import { stac } from '@toolkeel/stac';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { overStdio, type Connected } from './client.js';
import { answersTo, fuzzArguments } from './fuzz-arguments.js';
import { writeStacConfig } from './stac-config.js';

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
