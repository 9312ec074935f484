import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CALLS_PER_BLOCK, SITE_TURNS, type ToolName } from '../calls/arguments.js';
import { planBlocks, type Block } from '../calls/blocks.js';
import { readMaterial } from '../calls/material.js';
import { judgeNoise } from '../judge/noise.js';
import type { ServerOptions } from '../rig/server.js';
import type { Scenario } from '../scenarios.js';
import { measure, type Measured } from '../measure/measured.js';
import type { Owners } from '../witness/attribute.js';
import { rehearse } from './rehearse.js';
import { runScenario } from './scenario.js';
import { openStage } from './stage.js';

export interface DrillOptions {
  /** How a server is started; its STAC tools are what is drilled. */
  readonly command: ServerOptions['command'];
  readonly seed: number;
  /** Calls of each tool. */
  readonly calls: number;
  readonly tools: readonly ToolName[];
  readonly scenarios: readonly Scenario[];
  /** Whether it works is all that is asked: less warming up, and noise does not matter. */
  readonly quick: boolean;
  readonly onProgress?: (text: string) => void;
}

/** Blocks before the measured ones, in every arm: connections, compiled code, known latencies. */
const WARM_UP_BLOCKS = 2;
const QUICK_WARM_UP_BLOCKS = 1;

/** Every scenario, and once more where the machine was too noisy: then there are two of it. */
export async function runDrill(options: DrillOptions): Promise<Measured[]> {
  const { onProgress = () => {}, scenarios } = options;
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-drill-'));
  try {
    const plan = await prepare(options, dir);
    const results: Measured[] = [];
    for (const scenario of scenarios) {
      const perform = async (note: string): Promise<Measured> => {
        const begun = performance.now();
        const run = await runScenario(scenario, {
          ...options,
          ...plan,
          dir: join(dir, scenario.id),
          onBlock: (done, all) =>
            onProgress(`${scenario.title}${note} · block ${done + 1} of ${all}`),
        });
        return measure(run, { seed: options.seed, tookMs: performance.now() - begun });
      };
      const first = await perform('');
      results.push(first);
      if (!options.quick && !judgeNoise(first).counts) results.push(await perform(', again'));
    }
    return results;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Plan {
  readonly sites: number;
  readonly warmUp: readonly Block[];
  readonly blocks: readonly Block[];
  readonly owners: ReadonlyMap<number, Owners>;
}

/** The calls, and which requests each of them makes. */
async function prepare(options: DrillOptions, dir: string): Promise<Plan> {
  const { command, seed, tools, onProgress = () => {} } = options;
  const measured = Math.ceil(options.calls / CALLS_PER_BLOCK);
  const count = measured + (options.quick ? QUICK_WARM_UP_BLOCKS : WARM_UP_BLOCKS);
  const sites = Math.max(count, SITE_TURNS) * CALLS_PER_BLOCK;
  const arms = [{ name: 'baseline', faults: [], hedge: false }] as const;
  const stage = await openStage({ command, seed, sites, arms, dir: join(dir, 'rehearsal') });
  try {
    const [arm] = stage.arms;
    const material = await readMaterial(arm!.upstreams[0]!.url, 2 * sites, sites);
    const all = planBlocks({ tools, count, seed }, material);
    const owners = await rehearse(all, arm!, (done) =>
      onProgress(`rehearsal · block ${done} of ${all.length}`),
    );
    return { sites, owners, blocks: all.slice(0, measured), warmUp: all.slice(measured) };
  } finally {
    await stage.close();
  }
}
