import {
  type Block,
  CALLS_PER_BLOCK,
  MAIN_NAME,
  OTHER_NAME,
  planBlocks,
  type PlannedCall,
  readMaterial,
  SITE_TURNS,
  type ToolName,
} from './calls.js';
import {
  type Server,
  serverEnvironment,
  type ServerOptions,
  settings,
  startServer,
  startUpstreams,
  type Timed,
  type Upstream,
} from './rig.js';
import {
  type Arrival,
  arrivals,
  attribute,
  contradiction,
  envelopeReader,
  keyOf,
  type Owners,
  ownersOf,
  type Read,
  seenOf,
} from './upstream-log.js';
import type { StacSandboxOptions } from '@toolkeel/sandbox';
import { join } from 'node:path';
import { type Variant, type VariantName, type Scenario, SIGMA } from './scenarios.js';
import { DrillError } from '../cli/command-line.js';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { derive } from '../simulator/model.js';
import { tmpdir } from 'node:os';
import { judgeNoise } from './judge.js';
import { measure, type Measured } from './measure.js';

/** Applies `work` to all, at most so many at a time, each taking the next as soon as it is done. */
export async function inLanes<T, R>(
  all: readonly T[],
  workers: number,
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < all.length; at = next++) results[at] = await work(all[at]!);
  };
  await Promise.all(Array.from({ length: workers }, lane));
  return results;
}

/** One call of a block in one variant. */
interface Turn {
  readonly variant: number;
  readonly call: number;
}

/**
 * The order in which the variants make the calls of a block: one of each variant after the other, so that
 * whatever else the machine does happens to all of them alike. Each begins at another call, lest they
 * all ask the same at the same time, and none always goes before or behind another.
 */
export function takingTurns(calls: number, variants: number, block: number): Turn[] {
  return Array.from({ length: calls }, (_, step) =>
    turnOrder(variants, block + step).map((variant) => ({
      variant,
      call: (step + Math.floor((variant * calls) / variants)) % calls,
    })),
  ).flat();
}

/** Over as many turns as there are orders, each variant has each place equally often. */
export function turnOrder(variants: number, turn: number): number[] {
  const order = Array.from({ length: variants }, (_, place) => (place + (turn >> 1)) % variants);
  return turn % 2 === 0 ? order : order.toReversed();
}

/** One call in one variant: what it said and what the upstream saw. */
export interface CallRecord {
  readonly tool: ToolName;
  readonly n: number;
  readonly block: number;
  readonly wallMs: number;
  readonly success: boolean;
  readonly code: string;
  /** Equal for equal data. */
  readonly digest: string;
  readonly requests: number;
  readonly distinct: number;
  readonly mostAttempts: number;
  /** Attempts beyond the first that were not told as retries: hedges. */
  readonly hedges: number;
  /** What its requests would have taken undisturbed, all together. */
  readonly latencyMs: number;
  /** Why its envelope is not one. */
  readonly mismatch: string | undefined;
  readonly contradiction: string | undefined;
}

function recordOf(
  { tool, n }: PlannedCall,
  about: {
    readonly block: number;
    readonly timed: Timed;
    readonly told: Read;
    readonly arrived: readonly Arrival[];
    readonly hedged: boolean;
  },
): CallRecord {
  const { block, timed, told, arrived, hedged } = about;
  const seen = seenOf(arrived);
  const { requests, distinct, mostAttempts, latencyMs } = seen;
  const common = {
    tool,
    n,
    block,
    wallMs: timed.wallMs,
    requests,
    distinct,
    mostAttempts,
    latencyMs,
  };
  if (!told.ok) {
    const nothing = { success: false, code: 'mismatch', digest: '', hedges: 0 };
    return { ...common, ...nothing, mismatch: told.why, contradiction: undefined };
  }
  const { success, code, digest, retries } = told.told;
  return {
    ...common,
    success,
    code,
    digest,
    hedges: seen.extra - retries,
    mismatch: undefined,
    contradiction: contradiction(told.told, seen, hedged),
  };
}

interface StageOptions {
  readonly command: ServerOptions['command'];
  readonly dir: string;
  readonly seed: number;
  readonly sites: number;
  /** Without it the upstreams answer at once. */
  readonly p95Ms?: number;
  readonly variants: readonly Pick<Variant, 'name' | 'faults' | 'hedge'>[];
}

interface Stage {
  readonly variants: readonly RunningVariant[];
  readonly close: () => Promise<void>;
}

/** Every variant with a server process and two upstreams of its own: nothing that they learn is shared. */
async function openStage(options: StageOptions): Promise<Stage> {
  const { command, dir, sites, variants } = options;
  const upstreams = await startUpstreams(
    variants.flatMap((variant) => upstreamOptions(variant, options)),
  );
  const started = await Promise.allSettled(
    variants.map(({ name, hedge }, place) => {
      const own = [upstreams.all[2 * place]!, upstreams.all[2 * place + 1]!] as const;
      return startVariant({ command, dir: join(dir, name), sites, hedge, upstreams: own });
    }),
  );
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const close = async (): Promise<void> => {
    await Promise.all(running.map(({ server }) => server.close()));
    await upstreams.close();
  };
  const failed = started.find((one) => one.status === 'rejected');
  if (!failed) return { variants: running, close };
  await close();
  throw failed.reason;
}

function upstreamOptions(
  { faults }: Pick<Variant, 'faults'>,
  { seed, p95Ms }: StageOptions,
): StacSandboxOptions[] {
  const common = {
    faults,
    drawBy: 'request',
    ...(p95Ms !== undefined && { latency: { p95Ms, sigma: SIGMA } }),
  } as const;
  return [
    // Without ETags: every document comes whole, and nothing is spared by knowing it already.
    { ...common, seed, flavour: 'full', traits: { etags: false } },
    { ...common, seed, flavour: 'pgstac' },
  ];
}

interface BlockRun {
  readonly block: Block;
  /** What the upstreams draw from, in every variant. */
  readonly seed: number;
  readonly owners: Owners;
  readonly callers: number;
  readonly read: (tool: string, answer: Timed['answer']) => Read;
}

interface BlockResult {
  readonly records: readonly CallRecord[];
  /** Requests that belong to no call. */
  readonly unattributed: number;
}

/** All calls of a block in all variants, so many at a time, and then what the upstreams say about it. */
async function runBlock(
  variants: readonly RunningVariant[],
  options: BlockRun,
): Promise<BlockResult[]> {
  const { block, seed, callers } = options;
  const upstreams = variants.flatMap((variant) => variant.upstreams);
  await Promise.all(upstreams.map(({ restart }) => restart(seed)));
  const answers: Timed[][] = variants.map(() => []);
  const turns = takingTurns(block.calls.length, variants.length, block.index);
  await inLanes(turns, callers, async ({ variant, call }) => {
    const { tool, args } = block.calls[call]!;
    answers[variant]![call] = await variants[variant]!.server.call(tool, args);
  });
  return Promise.all(variants.map((variant, place) => resultOf(variant, answers[place]!, options)));
}

async function resultOf(
  { upstreams, hedge }: RunningVariant,
  answers: readonly Timed[],
  { block, owners, read }: BlockRun,
): Promise<BlockResult> {
  const logs = await Promise.all(upstreams.map(({ log }) => log()));
  const { byCall, unattributed } = attribute(arrivals(logs), owners, block.calls.length);
  const records = block.calls.map((call, place) => {
    const timed = answers[place]!;
    const told = read(call.tool, timed.answer);
    const arrived = byCall[place]!;
    return recordOf(call, { block: block.index, timed, told, arrived, hedged: hedge });
  });
  return { records, unattributed: unattributed.length };
}

/**
 * Makes every call once, alone, of an upstream that neither waits nor fails, to learn which requests
 * it makes. A call that does not succeed here has arguments that make no sense.
 */
async function rehearse(
  blocks: readonly Block[],
  { server, upstreams, renew }: RunningVariant,
  onBlock: (done: number) => void = () => {},
): Promise<ReadonlyMap<number, Owners>> {
  const owners = new Map<number, Owners>();
  for (const { index, calls } of blocks) {
    await renew();
    await Promise.all(upstreams.map(({ restart }) => restart(0)));
    const seen = upstreams.map(() => 0);
    const keysByCall: Set<string>[] = [];
    for (const { tool, args } of calls) {
      const { answer } = await server.call(tool, args);
      if ('thrown' in answer || answer.isError === true) {
        throw new DrillError(`${tool} fails without faults: ${JSON.stringify({ args, answer })}`);
      }
      const logs = await Promise.all(upstreams.map(({ log }, place) => log(seen[place])));
      logs.forEach((log, place) => {
        seen[place] = log.at(-1)?.id ?? seen[place]!;
      });
      keysByCall.push(new Set(arrivals(logs).map(keyOf)));
    }
    owners.set(index, ownersOf(keysByCall));
    onBlock(owners.size);
  }
  return owners;
}

/** A server and the upstreams that are its alone. */
interface RunningVariant {
  readonly hedge: boolean;
  readonly server: Server;
  readonly upstreams: readonly Upstream[];
  /** Before a block: makes what the pack knows of first pages new, unless it is still fresh. */
  readonly renew: () => Promise<void>;
}

interface VariantOptions {
  readonly command: ServerOptions['command'];
  /** Where the server's configuration and data go. */
  readonly dir: string;
  readonly sites: number;
  readonly hedge: boolean;
  readonly upstreams: readonly [main: Upstream, other: Upstream];
}

/**
 * The pack forgets a first page after five minutes, or when it has seen 64 newer ones, of which a
 * block has 16. A measured call must not be the one to notice.
 */
const FRESH_MS = 120_000;
const FRESH_BLOCKS = 3;

async function startVariant(options: VariantOptions): Promise<RunningVariant> {
  const { command, dir, upstreams, hedge, sites } = options;
  const [main, other] = upstreams;
  mkdirSync(dir, { recursive: true });
  const config = join(dir, 'toolkeel.config.json');
  const said = settings({ mainUrl: main.url, otherUrl: other.url, hedge, sites });
  writeFileSync(config, JSON.stringify(said));
  const env = serverEnvironment(process.env, {
    TOOLKEEL_CONFIG: config,
    TOOLKEEL_DATA_DIR: dir,
    TOOLKEEL_STAC_URL: main.url,
  });
  const server = await startServer({ command, env });
  let renewedAt = -Infinity;
  let blocks = 0;
  const renew = async (): Promise<void> => {
    const isFresh = performance.now() - renewedAt < FRESH_MS;
    if (isFresh && blocks++ % FRESH_BLOCKS > 0) return;
    await Promise.all([MAIN_NAME, OTHER_NAME].map((catalog) => readRoot(server, catalog)));
    renewedAt = performance.now();
  };
  return { hedge, server, upstreams, renew };
}

const PATIENCE = 10;

/** Under faults it may take more than one call. */
async function readRoot({ call }: Server, catalog: string): Promise<void> {
  for (let tries = 0; tries < PATIENCE; tries++) {
    const { answer } = await call('get_root', { catalog });
    if (!('thrown' in answer) && answer.isError !== true) return;
  }
  throw new DrillError(`the server could not read the first page of ${catalog}`);
}

interface ScenarioOptions extends Pick<StageOptions, 'command' | 'dir' | 'seed' | 'sites'> {
  readonly warmUp: readonly Block[];
  readonly blocks: readonly Block[];
  readonly owners: ReadonlyMap<number, Owners>;
  readonly onBlock?: (done: number, all: number) => void;
}

/** What became of every call, variant by variant, in the order of the plan. */
export interface ScenarioRun {
  readonly scenario: Scenario;
  readonly blocks: number;
  readonly records: ReadonlyMap<VariantName, readonly CallRecord[]>;
  /** Requests that belong to no call. */
  readonly unattributed: number;
}

/** All blocks, each of them in every variant at the same time. */
async function runScenario(scenario: Scenario, options: ScenarioOptions): Promise<ScenarioRun> {
  const { warmUp, blocks, owners, onBlock = () => {} } = options;
  const { p95Ms, variants, callers } = scenario;
  const stage = await openStage({ ...options, p95Ms, variants });
  try {
    const records = new Map<VariantName, CallRecord[]>(variants.map(({ name }) => [name, []]));
    // All servers are of one make, so that the schemas of one are those of all.
    const read = envelopeReader(stage.variants[0]!.server.outputSchemas);
    let unattributed = 0;
    const all = [...warmUp, ...blocks];
    for (const [done, block] of all.entries()) {
      onBlock(done, all.length);
      await Promise.all(stage.variants.map(({ renew }) => renew()));
      const results = await runBlock(stage.variants, {
        block,
        callers,
        seed: derive(derive(options.seed, scenario.luck), block.index),
        owners: owners.get(block.index)!,
        read,
      });
      if (done < warmUp.length) continue;
      results.forEach((result, place) => {
        records.get(variants[place]!.name)?.push(...result.records);
        unattributed += result.unattributed;
      });
    }
    return { scenario, blocks: blocks.length, records, unattributed };
  } finally {
    await stage.close();
  }
}

interface DrillOptions {
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

/** Blocks before the measured ones, in every variant: connections, compiled code, known latencies. */
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
  const variants = [{ name: 'baseline', faults: [], hedge: false }] as const;
  const stage = await openStage({ command, seed, sites, variants, dir: join(dir, 'rehearsal') });
  try {
    const [variant] = stage.variants;
    const material = await readMaterial(variant!.upstreams[0]!.url, 2 * sites, sites);
    const all = planBlocks({ tools, count, seed }, material);
    const owners = await rehearse(all, variant!, (done) =>
      onProgress(`rehearsal · block ${done} of ${all.length}`),
    );
    return { sites, owners, blocks: all.slice(0, measured), warmUp: all.slice(measured) };
  } finally {
    await stage.close();
  }
}
