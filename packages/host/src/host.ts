import {
  acceptControls,
  buildManifest,
  type Manifest,
  type PackDeps,
  type PackHealth,
  type PageTokens,
  type Profile,
  type RunClock,
  type RunProfile,
  type TextModel,
  type Tool,
  type ToolSpec,
  type UpstreamState,
} from '@toolkeel/contract';
import type { Journal, ToolSource } from '@toolkeel/journal';
import { systemClock } from '@toolkeel/kernel/policy';
import type { Policy } from '@toolkeel/policy';
import type { Transport } from '@modelcontextprotocol/server';
import type { HostMiddleware } from './call/around.js';
import { Deliveries } from './call/deliveries.js';
import { CallEngine } from './call/engine.js';
import { reporting } from './call/reporting.js';
import { LoadedPack, type PackEntry } from './catalog/loaded-pack.js';
import { admits, ToolTable } from './catalog/tools.js';
import { journalHooks, type JournalDeps } from './govern/journal-hooks.js';
import { policyStatusTool } from './govern/policy-status.js';
import { readRules, type NoteDenial } from './govern/reads.js';
import { within } from './govern/within.js';
import { askPack, probeOf } from './health.js';
import type { HttpHandle, HttpOptions } from './http/serve.js';
import { silent, type HostLog } from './log/log.js';
import { answerWith } from './mcp/answer.js';
import { confirmSends } from './mcp/confirm-sends.js';
import { makeServer, type Surface } from './mcp/make-server.js';
import { Prompts } from './mcp/prompts.js';
import type { Raw } from './mcp/raw.js';
import { Resources } from './mcp/resources.js';
import { ToolCalls } from './mcp/tools.js';
import { prometheusMetrics } from './metrics/prometheus.js';
import { scrubWith } from './secret/scrub.js';
import { serveOnStdio, type StdioHandle, type StdioOptions } from './stdio/serve.js';

/** What clients wait by default: a call that takes longer would be given up anyway. */
const DEFAULT_CALL_TIMEOUT_MS = 60_000;

/** What a call that used all of its time still needs to say so. */
const ANSWER_MS = 1000;
/** What a client that does not read its answers can delay a shutdown. */
const DELIVERY_LIMIT_MS = 1000;
/** Who looks at figures does not wait for a database. */
const COUNT_LIMIT_MS = 2000;

export interface HostOptions {
  readonly packs?: readonly PackEntry[];
  /** Tools without a pack. Retries of the guards that they call are counted as those of packs. */
  readonly tools?: readonly Tool[];
  /** Default: `readonly`. */
  readonly profile?: Exclude<Profile, 'workflow'> | RunProfile;
  readonly name?: string;
  readonly version?: string;
  /** For the model: what this server is for. Instructions of the packs follow. */
  readonly instructions?: string;
  /** The most that one call may take, where its pack does not say otherwise. Default: 60 s. */
  readonly callTimeoutMs?: number;
  /**
   * What sees to it that nothing is done twice. Made when the tools are known, which it has to know.
   * It stands behind all of `around`, and brings `get_operation` and the arguments of its own.
   */
  readonly journal?: (deps: JournalDeps) => Journal;
  /**
   * What may be done. Here it denies reads and brings `get_policy_status`; of mutations it is the
   * journal that asks, by its `decide`. A function is asked when somebody wants to know, and then it
   * must not be about reads.
   */
  readonly policy?: Policy | (() => Promise<Policy>);
  /** What else stands between accepted arguments and the handler, the first outermost. */
  readonly around?: readonly HostMiddleware[];
  /** Changes tools as they are registered. */
  readonly prepare?: <T extends ToolSpec>(tool: T) => T;
  /** Default: none. See `createLog`. */
  readonly log?: HostLog;
  /** Takes secrets out of all that leaves: `scrub` of a `Secrets`. */
  readonly scrub?: (text: string) => string;
  /** Hears of secrets that packs come by: `watchPassing` of the same `Secrets`. */
  readonly watchSecret?: (value: string) => void;
  /** Default: tokens that last as long as this process. */
  readonly tokens?: PageTokens;
  /** Of one answer, in bytes. Default: 48 KiB. */
  readonly byteBudget?: number;
  /** Default: the process's own. */
  readonly clock?: RunClock;
  /** The language model that packs may ask. */
  readonly model?: TextModel;
}

export interface Host {
  readonly profile: RunProfile;
  /** What is registered. */
  readonly tools: readonly ToolSpec[];
  /** The same, with what it takes to run them. */
  readonly toolSource: ToolSource;
  readonly manifest: () => Manifest;
  /** Registers plain MCP handlers inside of the same middleware. */
  readonly raw: (raw: Raw) => void;
  /**
   * A server for one connection, for a transport of your own. An answer counts as delivered when the
   * transport's `send` resolves.
   */
  readonly connect: (transport: Transport) => Promise<{ readonly close: () => Promise<void> }>;
  readonly serveStdio: (options?: StdioOptions) => StdioHandle;
  readonly listen: (options?: HttpOptions) => Promise<HttpHandle>;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  /** Asks every pack, and so creates those that were not needed yet. */
  readonly health: () => Promise<Readonly<Record<string, PackHealth>>>;
  /**
   * Takes the kernel's events. Guards that a tool without a pack calls report here by themselves; this
   * is for pipelines that are composed by hand.
   */
  readonly observe: PackDeps['observe'];
  /**
   * Ends calls after `graceMs` (default: when each had all the time that it may take), waits until their
   * answers are written, then closes the journal, then the packs.
   */
  readonly close: (graceMs?: number) => Promise<void>;
}

/** Puts tools together to a server. Nothing is started, and no pack is created, before it is needed. */
export function createHost(options: HostOptions = {}): Host {
  const { log = silent, callTimeoutMs = DEFAULT_CALL_TIMEOUT_MS } = options;
  const profile = runProfile(options.profile);
  const scrub = scrubWith(options.scrub ?? ((text) => text));
  const { clock = systemClock } = options;

  const upstreams = async (): Promise<readonly UpstreamState[]> => {
    const instances = await Promise.all(packs.map((pack) => pack.current()));
    return instances.flatMap((instance) => instance?.upstreams?.() ?? []);
  };
  const waiting = async () =>
    journal && within(COUNT_LIMIT_MS, journal.counts()).catch(() => undefined);
  const info = { name: options.name ?? 'toolkeel', version: options.version ?? '0.1.0' };
  const metrics = prometheusMetrics(upstreams, waiting, info.version);
  const { around = [], policy } = options;
  // The denial stands, whether or not it can be written down: nobody waits for that.
  const noteDenial: NoteDenial = (denial) => {
    journal?.noteDenial(denial).catch((cause: unknown) => {
      log('error', 'journal_failed', { correlation_id: denial.correlationId, cause });
    });
  };
  const reads = typeof policy === 'object' ? readRules(policy, noteDenial) : undefined;
  let aroundMutations = around;
  const engine = new CallEngine({
    profile,
    layersOf: (tool) => {
      if (tool.mutation) return aroundMutations;
      const layer = reads?.layerFor(tool);
      return layer ? [...around, layer] : around;
    },
    noteCall: options.journal && ((row) => journal?.noteCall(row)),
    log,
    metrics,
    tokens: options.tokens,
    byteBudget: options.byteBudget,
    clock,
  });
  const deps: PackDeps = {
    now: () => clock.now(),
    random: Math.random,
    log,
    observe: engine.observe,
    ...(options.model && { model: options.model }),
    ...(options.watchSecret && { secret: options.watchSecret }),
  };

  const packs = (options.packs ?? []).map(
    (entry) => new LoadedPack(entry, admits(profile.name), deps),
  );
  const timeoutOf = (pack: LoadedPack): number => pack.callTimeoutMs ?? callTimeoutMs;
  const longestCallMs = Math.max(callTimeoutMs, ...packs.map(timeoutOf));
  const table = new ToolTable(profile.name);
  const prepare = <T extends ToolSpec>(given: T): T => {
    const own = options.prepare?.(given) ?? given;
    const tool = options.journal ? acceptControls(own) : own;
    return reads ? reads.prepare(tool) : tool;
  };
  for (const tool of options.tools ?? []) {
    table.addTool(prepare(reporting(tool, engine.observe)), callTimeoutMs);
  }
  for (const pack of packs) table.addPack(pack, timeoutOf(pack), prepare);

  const toolSource: ToolSource = {
    specs: () => table.specs,
    load: (name) => table.entry(name)?.load(),
  };
  const journal = options.journal?.({
    tools: toolSource,
    watch: engine.watch,
    ...journalHooks(log, metrics),
  });
  if (journal) {
    aroundMutations = [...around, journal.around];
    table.addTool(prepare(journal.tool), callTimeoutMs);
  }
  if (policy) {
    const inForce = typeof policy === 'function' ? policy : () => policy;
    table.addTool(prepare(policyStatusTool(inForce, toolSource)), callTimeoutMs);
  }

  const deliveries = new Deliveries((cause) => log('error', 'unexpected', { cause }));
  const raws: Raw[] = [];
  const surface: Surface = {
    info,
    instructions: instructionsOf(options.instructions, packs, scrub.text),
    tools: table,
    calls: new ToolCalls(table, engine, scrub, deliveries),
    resources: new Resources(packs, engine, scrub, timeoutOf),
    prompts: new Prompts(packs, scrub),
    raws,
    answer: answerWith(log, scrub),
  };
  const make = () => makeServer(surface);
  const probe = probeOf(packs, () => clock.now());
  const readMetrics: Host['metrics'] = async () => {
    const { type, text } = await metrics.read();
    return { type, text: scrub.text(text) };
  };

  return {
    profile,
    get tools() {
      return table.specs;
    },
    toolSource,
    manifest: () => buildManifest(table.specs),
    raw: (raw) => {
      for (const tool of raw.tools ?? []) table.addRaw(tool);
      for (const resource of raw.resources ?? []) surface.resources.addRaw(resource);
      for (const prompt of raw.prompts ?? []) surface.prompts.addRaw(prompt);
      raws.push(raw);
    },
    connect: async (transport) => {
      journal?.start();
      const server = confirmSends(make(), deliveries, () => Promise.resolve());
      await server.connect(transport);
      return { close: () => server.close() };
    },
    serveStdio: (stdio) => {
      journal?.start();
      return serveOnStdio(make, log, deliveries, stdio);
    },
    listen: async (http) => {
      journal?.start();
      const { serveOnHttp } = await import('./http/serve.js');
      return serveOnHttp(
        {
          make,
          deliveries,
          log,
          longestCallMs,
          drain: (graceMs = longestCallMs + ANSWER_MS) => engine.drain(graceMs),
          health: async () => scrub.value(await probe()),
          metrics: readMetrics,
        },
        http,
      );
    },
    metrics: readMetrics,
    health: async () => {
      const asked = packs.map(async (pack) => [pack.name, await askPack(pack)] as const);
      return scrub.value(Object.fromEntries(await Promise.all(asked)));
    },
    observe: engine.observe,
    close: async (graceMs = longestCallMs + ANSWER_MS) => {
      await engine.drain(graceMs);
      await deliveries.settled(DELIVERY_LIMIT_MS);
      await journal?.close(graceMs);
      await Promise.all(packs.map((pack) => pack.close()));
    },
  };
}

function instructionsOf(
  own: string | undefined,
  packs: readonly LoadedPack[],
  scrub: (text: string) => string,
): string | undefined {
  const parts = [own, ...packs.map(({ instructions }) => instructions)].filter(Boolean);
  return parts.length > 0 ? scrub(parts.join('\n')) : undefined;
}

function runProfile(given: HostOptions['profile'] = 'readonly'): RunProfile {
  return typeof given === 'string' ? { name: given } : given;
}
