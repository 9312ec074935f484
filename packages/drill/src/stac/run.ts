import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DrillError } from '../cli/command-line.js';
import { derive } from '../simulator/model.js';
import {
  type Block,
  CALLS_PER_BLOCK,
  planBlocks,
  type PlannedCall,
  readMaterial,
  SITE_TURNS,
  type ToolName,
} from './calls.js';
import { judgeNoise } from './judge.js';
import { measure, type Measured } from './measure.js';
import { type RigOptions, type RunningVariant, startRig, type Timed } from './rig.js';
import type { Scenario, VariantName } from './scenarios.js';
import {
  arrivals,
  attribute,
  type CallByRequest,
  contradiction,
  type EnvelopeResult,
  envelopeReader,
  indexRequests,
  keyOf,
  type Observed,
  observe,
} from './upstream-log.js';

/** Applies `work` to every item with a fixed number of concurrent workers. */
export async function mapConcurrently<T, R>(
  all: readonly T[],
  workers: number,
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < all.length; at = next++) results[at] = await work(all[at]!);
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return results;
}

/** One call of a block in one variant. */
interface Turn {
  readonly variant: number;
  readonly call: number;
}

/**
 * The order of the calls of a block: the variants take turns call by call, so that other load on the
 * machine affects all of them alike. Each variant starts at a different call, so that they never make
 * the same call at the same time, and their order changes from turn to turn.
 */
export function interleave(calls: number, variants: number, block: number): Turn[] {
  return Array.from({ length: calls }, (_, step) =>
    variantOrder(variants, block + step).map((variant) => ({
      variant,
      call: (step + Math.floor((variant * calls) / variants)) % calls,
    })),
  ).flat();
}

/** Over `2 × variants` turns each variant has each position equally often. */
export function variantOrder(variants: number, turn: number): number[] {
  const order = Array.from({ length: variants }, (_, place) => (place + (turn >> 1)) % variants);
  return turn % 2 === 0 ? order : order.toReversed();
}

/** One call in one variant: what its envelope reports and what the upstream observed. */
export interface CallRecord extends Pick<
  Observed,
  'requests' | 'distinct' | 'mostAttempts' | 'latencyMs'
> {
  readonly tool: ToolName;
  readonly n: number;
  readonly block: number;
  readonly wallMs: number;
  readonly success: boolean;
  readonly code: string;
  /** Equal for equal data. */
  readonly digest: string;
  /** Attempts beyond the first that the envelope does not report as retries. */
  readonly hedges: number;
  /** Why the envelope is invalid. */
  readonly mismatch: string | undefined;
  readonly contradiction: string | undefined;
}

function recordOf(
  { tool, n }: PlannedCall,
  block: number,
  wallMs: number,
  envelope: EnvelopeResult,
  observed: Observed,
  hedged: boolean,
): CallRecord {
  const { requests, distinct, mostAttempts, latencyMs } = observed;
  const common = { tool, n, block, wallMs, requests, distinct, mostAttempts, latencyMs };
  if (!envelope.ok) {
    const invalid = { success: false, code: 'mismatch', digest: '', hedges: 0 };
    return { ...common, ...invalid, mismatch: envelope.why, contradiction: undefined };
  }
  const { success, code, digest, retries } = envelope.reported;
  return {
    ...common,
    success,
    code,
    digest,
    hedges: observed.extra - retries,
    mismatch: undefined,
    contradiction: contradiction(envelope.reported, observed, hedged),
  };
}

interface BlockResult {
  readonly records: readonly CallRecord[];
  readonly unattributed: number;
}

interface BlockRun {
  readonly block: Block;
  /** The same in every variant. */
  readonly seed: number;
  readonly callByRequest: CallByRequest;
  readonly callers: number;
  readonly readEnvelope: ReturnType<typeof envelopeReader>;
}

/** Makes all calls of a block in all variants, then reads the upstreams' logs. */
async function runBlock(
  variants: readonly RunningVariant[],
  { block, seed, callByRequest, callers, readEnvelope }: BlockRun,
): Promise<BlockResult[]> {
  const upstreams = variants.flatMap((variant) => variant.upstreams);
  await Promise.all(upstreams.map(({ restart }) => restart(seed)));
  const answers: Timed[][] = variants.map(() => []);
  const turns = interleave(block.calls.length, variants.length, block.index);
  await mapConcurrently(turns, callers, async ({ variant, call }) => {
    const { tool, args } = block.calls[call]!;
    answers[variant]![call] = await variants[variant]!.server.call(tool, args);
  });
  return Promise.all(
    variants.map(async ({ upstreams: own, hedge }, variant) => {
      const logs = await Promise.all(own.map(({ log }) => log()));
      const { byCall, unattributed } = attribute(arrivals(logs), callByRequest, block.calls.length);
      const records = block.calls.map((call, at) => {
        const { answer, wallMs } = answers[variant]![at]!;
        const envelope = readEnvelope(call.tool, answer);
        return recordOf(call, block.index, wallMs, envelope, observe(byCall[at]!), hedge);
      });
      return { records, unattributed: unattributed.length };
    }),
  );
}

/** All calls of a scenario, by variant, in the order of the plan. */
export interface ScenarioRun {
  readonly scenario: Scenario;
  readonly blocks: number;
  readonly records: ReadonlyMap<VariantName, readonly CallRecord[]>;
  /** Requests that belong to no call. */
  readonly unattributed: number;
}

/** The calls, and the requests that each of them makes. */
interface DrillPlan {
  readonly sites: number;
  readonly warmUp: readonly Block[];
  readonly blocks: readonly Block[];
  readonly callByRequest: ReadonlyMap<number, CallByRequest>;
}

/** Runs all blocks, each of them in every variant at the same time. */
async function runScenario(
  scenario: Scenario,
  plan: DrillPlan,
  rigOptions: Pick<RigOptions, 'command' | 'dir' | 'seed'>,
  onBlock: (done: number, all: number) => void,
): Promise<ScenarioRun> {
  const { p95Ms, variants, callers } = scenario;
  const { warmUp, blocks, sites } = plan;
  const rig = await startRig({ ...rigOptions, sites, p95Ms, variants });
  try {
    const records = new Map<VariantName, CallRecord[]>(variants.map(({ name }) => [name, []]));
    // All servers run the same code, so the schemas of one apply to all.
    const readEnvelope = envelopeReader(rig.variants[0]!.server.outputSchemas);
    let unattributed = 0;
    const all = [...warmUp, ...blocks];
    for (const [done, block] of all.entries()) {
      onBlock(done, all.length);
      await Promise.all(rig.variants.map(({ refresh }) => refresh()));
      const results = await runBlock(rig.variants, {
        block,
        callers,
        seed: derive(derive(rigOptions.seed, scenario.randomStream), block.index),
        callByRequest: plan.callByRequest.get(block.index)!,
        readEnvelope,
      });
      if (done < warmUp.length) continue;
      results.forEach((result, variant) => {
        records.get(variants[variant]!.name)?.push(...result.records);
        unattributed += result.unattributed;
      });
    }
    return { scenario, blocks: blocks.length, records, unattributed };
  } finally {
    await rig.close();
  }
}

interface DrillOptions {
  /** How to start a server with the STAC tools. */
  readonly command: RigOptions['command'];
  readonly seed: number;
  /** Calls of each tool. */
  readonly calls: number;
  readonly tools: readonly ToolName[];
  readonly scenarios: readonly Scenario[];
  /** A functional check only: less warm-up, and noise is ignored. */
  readonly quick: boolean;
  readonly onProgress?: (text: string) => void;
}

/** Unmeasured blocks in every variant: connections, compiled code, latency samples. */
const WARM_UP_BLOCKS = 2;
const QUICK_WARM_UP_BLOCKS = 1;

/** Runs every scenario, and a second time if the machine was too noisy; both runs are returned. */
export async function runDrill(options: DrillOptions): Promise<Measured[]> {
  const { command, seed, scenarios, onProgress = () => {} } = options;
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-drill-'));
  try {
    const plan = await prepare(options, dir);
    const results: Measured[] = [];
    for (const scenario of scenarios) {
      const { id, title } = scenario;
      const runOnce = async (note: string): Promise<Measured> => {
        const startedAt = performance.now();
        const rigOptions = { command, seed, dir: join(dir, id) };
        const run = await runScenario(scenario, plan, rigOptions, (done, all) =>
          onProgress(`${title}${note} · block ${done + 1} of ${all}`),
        );
        return measure(run, { seed, tookMs: performance.now() - startedAt });
      };
      const first = await runOnce('');
      results.push(first);
      if (!options.quick && !judgeNoise(first).counts) results.push(await runOnce(', again'));
    }
    return results;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function prepare(options: DrillOptions, dir: string): Promise<DrillPlan> {
  const { command, seed, tools, onProgress = () => {} } = options;
  const measured = Math.ceil(options.calls / CALLS_PER_BLOCK);
  const count = measured + (options.quick ? QUICK_WARM_UP_BLOCKS : WARM_UP_BLOCKS);
  const sites = Math.max(count, SITE_TURNS) * CALLS_PER_BLOCK;
  const variants = [{ name: 'baseline', faults: [], hedge: false }] as const;
  const rig = await startRig({ command, seed, sites, variants, dir: join(dir, 'dry-run') });
  try {
    const [variant] = rig.variants;
    const material = await readMaterial(variant!.upstreams[0].url, 2 * sites, sites);
    const all = planBlocks({ tools, count, seed }, material);
    const callByRequest = await dryRun(all, variant!, (done) =>
      onProgress(`dry run · block ${done} of ${all.length}`),
    );
    return { sites, callByRequest, blocks: all.slice(0, measured), warmUp: all.slice(measured) };
  } finally {
    await rig.close();
  }
}

/**
 * Makes every call once, sequentially, against an upstream without latency and faults, to record the
 * requests of each call. A call that fails here has invalid arguments.
 */
async function dryRun(
  blocks: readonly Block[],
  { server, upstreams, refresh }: RunningVariant,
  onBlock: (done: number) => void,
): Promise<ReadonlyMap<number, CallByRequest>> {
  const byBlock = new Map<number, CallByRequest>();
  for (const { index, calls } of blocks) {
    await refresh();
    await Promise.all(upstreams.map(({ restart }) => restart(0)));
    const lastIds = upstreams.map(() => 0);
    const keysByCall: Set<string>[] = [];
    for (const { tool, args } of calls) {
      const { answer } = await server.call(tool, args);
      if ('thrown' in answer || answer.isError === true) {
        throw new DrillError(`${tool} fails without faults: ${JSON.stringify({ args, answer })}`);
      }
      const logs = await Promise.all(upstreams.map(({ log }, at) => log(lastIds[at])));
      logs.forEach((log, at) => {
        lastIds[at] = log.at(-1)?.id ?? lastIds[at]!;
      });
      keysByCall.push(new Set(arrivals(logs).map(keyOf)));
    }
    byBlock.set(index, indexRequests(keysByCall));
    onBlock(byBlock.size);
  }
  return byBlock;
}
