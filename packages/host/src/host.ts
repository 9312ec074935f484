import {
  acceptControls,
  buildManifest,
  CONTROLS_EXPLAINED,
  type Manifest,
  type PackDeps,
  type PackHealth,
  type PackRecords,
  type PageTokens,
  type Profile,
  type RunClock,
  type RunProfile,
  type TextModel,
  type Tool,
  type ToolSpec,
  type UpstreamState,
} from '@toolkeel/contract';
import type { Denial, Journal, ToolSource } from '@toolkeel/journal';
import { systemClock } from '@toolkeel/kernel/policy';
import type { Policy } from '@toolkeel/policy';
import type { Transport } from '@modelcontextprotocol/server';
import { reportEvents } from './call/callable.js';
import { processDescription, type Reachability } from './call/process-description.js';
import { UpstreamMonitor } from './call/upstream-monitor.js';
import { confirmSends, Deliveries } from './call/deliveries.js';
import { CallEngine } from './call/engine.js';
import type { HostMiddleware } from './call/middleware.js';
import { LoadedPack, type PackEntry } from './catalog/loaded-pack.js';
import { packModel } from './catalog/pack-model.js';
import { admits, ToolTable } from './catalog/tools.js';
import { journalHooks, type JournalDeps } from './governance/journal.js';
import { policyStatusTool } from './governance/policy-status.js';
import { delegateRules, readRules } from './governance/policy.js';
import type { ConsoleHost } from './console/console.js';
import { packWorkflow } from './governance/workflow.js';
import { HostError } from './errors.js';
import { checkPack, createProbe } from './health.js';
import type { HttpHandle, HttpOptions } from './http/serve.js';
import { silent, type HostLog } from './log/log.js';
import { DirectCalls } from './mcp/direct-calls.js';
import { Prompts } from './mcp/prompts.js';
import type { Raw } from './mcp/raw.js';
import { Resources } from './mcp/resources.js';
import { hideInternalErrors, createMcpServer, type ServerParts } from './mcp/server.js';
import { ToolCalls } from './mcp/tools.js';
import { prometheusMetrics } from './metrics.js';
import { scrubWith } from './secret/secrets.js';
import { serveOnStdio, type StdioHandle, type StdioOptions } from './stdio/serve.js';
import { withTimeout } from './promises.js';

/** The default timeout of MCP clients. */
const DEFAULT_CALL_TIMEOUT_MS = 60_000;

/** Extra time for the results of calls that use their whole time limit. */
const RESPONSE_MS = 1000;
/** How long a client that does not read its results can delay a shutdown. */
const DELIVERY_TIMEOUT_MS = 1000;
/** How long a slow journal can delay a metrics scrape. */
const COUNT_TIMEOUT_MS = 2000;

export interface HostOptions {
  readonly packs?: readonly PackEntry[];
  /** Tools without a pack. Retries of resilient functions that they call are counted as for packs. */
  readonly tools?: readonly Tool[];
  /** Default: `readonly`. */
  readonly profile?: Exclude<Profile, 'workflow'> | RunProfile;
  readonly name?: string;
  readonly version?: string;
  /** The purpose of this server, for the model. The instructions of the packs are appended. */
  readonly instructions?: string;
  /** The time limit of a call, unless its pack sets one. Default: 60 s. */
  readonly callTimeoutMs?: number;
  /**
   * Creates the journal, which prevents duplicate execution; called once the tools are registered. It is
   * the innermost middleware, and adds the journal's arguments and, if there is a mutation, the tool
   * `get_operation`.
   */
  readonly journal?: (deps: JournalDeps) => Journal;
  /**
   * Denies reads, and adds the tool `get_policy_status` if there is a mutation. For mutations the journal evaluates the policy
   * through its `decide`. A function is called on demand; its policy must have no rules for reads.
   */
  readonly policy?: Policy | (() => Promise<Policy>);
  /** The records of a pack, for the `workflow` profile. Requires a journal. */
  readonly records?: (pack: string) => PackRecords;
  /** Further middleware between accepted arguments and handler, the first outermost. */
  readonly middleware?: readonly HostMiddleware[];
  /** Transforms tools when they are registered. */
  readonly prepare?: <T extends ToolSpec>(tool: T) => T;
  /** See `createLog`. Default: no log. */
  readonly log?: HostLog;
  /** Redacts secrets in all output: `scrub` of a `Secrets`. */
  readonly scrub?: (text: string) => string;
  /** Receives secrets that packs obtain at run time: `watchRotating` of the same `Secrets`. */
  readonly watchSecret?: (value: string) => void;
  /** Default: page tokens that are valid until the process exits. */
  readonly tokens?: PageTokens;
  /** The maximum size of a result in bytes. Default: 48 KiB. */
  readonly byteBudget?: number;
  /** Default: the system clock. */
  readonly clock?: RunClock;
  /** The language model that packs may use. */
  readonly model?: TextModel;
}

export interface Host {
  readonly profile: RunProfile;
  /** The registered tools. */
  readonly tools: readonly ToolSpec[];
  /** The registered tools, for the journal. */
  readonly toolSource: ToolSource;
  readonly manifest: () => Manifest;
  /** Registers plain MCP handlers. */
  readonly raw: (raw: Raw) => void;
  /**
   * Connects a server to a custom transport. A result counts as delivered when the transport's `send`
   * resolves.
   */
  readonly connect: (transport: Transport) => Promise<{ readonly close: () => Promise<void> }>;
  readonly serveStdio: (options?: StdioOptions) => StdioHandle;
  readonly listen: (options?: HttpOptions) => Promise<HttpHandle>;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  /** Checks every pack, and creates those that are not created yet. */
  readonly health: () => Promise<Readonly<Record<string, PackHealth>>>;
  /** For `governance.console`. */
  readonly forConsole: ConsoleHost;
  /**
   * Receives kernel events, for pipelines that are composed by hand. Resilient functions that a tool
   * without a pack calls report by themselves.
   */
  readonly observe: PackDeps['observe'];
  /**
   * Waits for calls in flight and ends them after `graceMs` (default: the longest time limit), waits until
   * their results are written, then closes the journal and the packs.
   */
  readonly close: (graceMs?: number) => Promise<void>;
}

/** Creates an MCP server for tools. Packs and transports are created on demand. */
export function createHost(options: HostOptions = {}): Host {
  const { log = silent, callTimeoutMs = DEFAULT_CALL_TIMEOUT_MS } = options;
  const profile = runProfile(options.profile);
  const scrub = scrubWith(options.scrub ?? ((text) => text));
  const { clock = systemClock } = options;

  const upstreams = async (): Promise<readonly UpstreamState[]> => {
    const instances = await Promise.all(packs.map((pack) => pack.current()));
    return instances.flatMap((instance) => instance?.upstreams?.() ?? []);
  };
  const pendingCounts = async () =>
    journal && withTimeout(COUNT_TIMEOUT_MS, journal.counts()).catch(() => undefined);
  const info = { name: options.name ?? 'toolkeel', version: options.version ?? '0.1.0' };
  const metrics = prometheusMetrics(upstreams, pendingCounts, info.version);
  const { middleware = [], policy } = options;
  // Not awaited: the call is denied whether or not the denial can be recorded.
  const recordDenial = (denial: Denial): void => {
    journal?.noteDenial(denial).catch((cause: unknown) => {
      log('error', 'journal_failed', { correlation_id: denial.correlationId, cause });
    });
  };
  const reads = typeof policy === 'object' ? readRules(policy, recordDenial) : undefined;
  let mutationMiddleware = middleware;
  const getPolicy = typeof policy === 'function' ? policy : () => policy!;
  const delegateMiddleware = policy
    ? [...middleware, delegateRules(getPolicy, recordDenial)]
    : middleware;
  const monitor = new UpstreamMonitor();
  const reachability: Reachability = { transport: 'other' };
  const engine = new CallEngine({
    profile,
    admitFor: (tool) =>
      middleware.length > 0 || tool.delegates || tool.mutation ? undefined : reads?.admitFor(tool),
    middlewareFor: (tool) => {
      if (tool.delegates) return delegateMiddleware;
      if (tool.mutation) return mutationMiddleware;
      const rules = reads?.middlewareFor(tool);
      return rules ? [...middleware, rules] : middleware;
    },
    recordCall: options.journal && ((row) => journal?.noteCall(row)),
    scrub: scrub.text,
    monitor,
    log,
    metrics,
    tokens: options.tokens,
    byteBudget: options.byteBudget,
    clock,
  });
  const hasModelPack = options.packs?.some(({ pack }) => pack.providesModel);
  const {
    model = hasModelPack ? packModel(() => packs.find((pack) => pack.providesModel)) : undefined,
  } = options;
  const deps: PackDeps = {
    now: () => clock.now(),
    random: Math.random,
    log,
    observe: engine.observe,
    ...(model && { model }),
    ...(options.watchSecret && { secret: options.watchSecret }),
  };

  const depsOf = (pack: string): PackDeps => {
    const { records } = options;
    if (profile.name !== 'workflow' || !records || !options.journal) return deps;
    const { mode, approvalMode } = profile;
    const workflow = packWorkflow({
      mode,
      approvalMode,
      records: records(pack),
      journal: () => journal!,
      entry: (name) => table.entry(name),
      engine,
      now: () => clock.now(),
    });
    return { ...deps, workflow };
  };
  const packs = (options.packs ?? []).map(
    (entry) => new LoadedPack(entry, admits(profile.name), depsOf(entry.pack.name)),
  );
  const timeoutOf = (pack: LoadedPack): number => pack.callTimeoutMs ?? callTimeoutMs;
  const longestCallMs = Math.max(callTimeoutMs, ...packs.map(timeoutOf));
  const table = new ToolTable(profile.name);
  const prepare = <T extends ToolSpec>(given: T): T => {
    const transformed = options.prepare?.(given) ?? given;
    const tool = options.journal ? acceptControls(transformed) : transformed;
    return reads ? reads.prepare(tool) : tool;
  };
  for (const tool of options.tools ?? []) {
    table.addTool(prepare(reportEvents(tool, engine.observe)), callTimeoutMs);
  }
  // A tool that asks the model of another pack may take as long as that pack allows.
  const modelMs = Math.max(0, ...packs.filter((pack) => pack.providesModel).map(timeoutOf));
  for (const pack of packs) {
    const timeoutOfTool = ({ requires }: ToolSpec): number =>
      requires.includes('llm') ? Math.max(timeoutOf(pack), modelMs) : timeoutOf(pack);
    table.addPack(pack, timeoutOfTool, prepare);
  }

  // Where nothing can be changed, the tools about changes would only cost context.
  const mutates = table.specs.some(({ mutation }) => mutation);
  const toolSource: ToolSource = {
    specs: () => table.specs,
    load: (name) => table.entry(name)?.load(),
  };
  const ownTools = once(() => {
    const ofPacks = new Set(packs.flatMap(({ specs }) => specs.map(({ name }) => name)));
    return table.specs.filter(({ name }) => !ofPacks.has(name));
  });
  const journal = options.journal?.({
    tools: toolSource,
    watch: engine.watch,
    process: processDescription({
      ...info,
      kind: 'host',
      profile: profile.name,
      reachability,
      packs: () => [...packs, { name: info.name, specs: ownTools(), upstreams: [] }],
      engine: () => engine,
      monitor,
    }),
    ...journalHooks(log, metrics),
  });
  if (journal) {
    mutationMiddleware = [...middleware, journal.middleware];
    if (mutates) table.addTool(prepare(journal.tool), callTimeoutMs);
  }
  if (policy && mutates) {
    table.addTool(prepare(policyStatusTool(getPolicy, toolSource)), callTimeoutMs);
  }

  const deliveries = new Deliveries((cause) => log('error', 'unexpected', { cause }));
  const raws: Raw[] = [];
  const calls = new ToolCalls(table, engine, scrub, deliveries);
  const direct = new DirectCalls({
    info,
    table,
    calls,
    onUnexpected: (cause) => log('error', 'unexpected', { cause }),
  });
  const parts: ServerParts = {
    info,
    instructions: joinInstructions(
      [
        options.instructions,
        ...packs.map(({ instructions }) => instructions),
        journal && mutates ? CONTROLS_EXPLAINED : undefined,
      ],
      scrub.text,
    ),
    tools: table,
    calls,
    resources: new Resources(packs, engine, scrub, timeoutOf),
    prompts: new Prompts(packs, scrub),
    raws,
    handle: hideInternalErrors(log, scrub),
  };
  const createServer = () => createMcpServer(parts);
  const probe = createProbe(packs, () => clock.now());
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
      for (const resource of raw.resources ?? []) parts.resources.addRaw(resource);
      for (const prompt of raw.prompts ?? []) parts.prompts.addRaw(prompt);
      raws.push(raw);
    },
    connect: async (transport) => {
      journal?.start();
      const server = confirmSends(createServer(), deliveries, () => Promise.resolve());
      await server.connect(transport);
      return { close: () => server.close() };
    },
    serveStdio: (stdio) => {
      reachability.transport = 'stdio';
      journal?.start();
      return serveOnStdio(createServer, log, deliveries, direct, stdio);
    },
    listen: async (http) => {
      reachability.transport = 'http';
      journal?.start();
      const { serveOnHttp } = await import('./http/serve.js');
      return serveOnHttp(
        {
          createServer,
          direct,
          deliveries,
          log,
          longestCallMs,
          drain: (graceMs = longestCallMs + RESPONSE_MS) => engine.drain(graceMs),
          health: async () => scrub.value(await probe()),
          metrics: readMetrics,
        },
        http,
      );
    },
    metrics: readMetrics,
    health: async () => {
      const checks = packs.map(async (pack) => [pack.name, await checkPack(pack)] as const);
      return scrub.value(Object.fromEntries(await Promise.all(checks)));
    },
    observe: engine.observe,
    forConsole: {
      profile: profile.name,
      version: info.version,
      reachability,
      source: toolSource,
      specs: () => table.specs,
      callRead: async (name, args, signal) => {
        const entry = table.entry(name);
        if (entry?.spec.effect !== 'read') throw new HostError(`${name} is not a read tool`);
        const request = { mcpReq: { method: 'tools/call', signal } } as const;
        return scrub.value((await engine.run(entry, args, request)).envelope);
      },
    },
    close: async (graceMs = longestCallMs + RESPONSE_MS) => {
      await engine.drain(graceMs);
      await deliveries.settled(DELIVERY_TIMEOUT_MS);
      await journal?.close(graceMs);
      await Promise.all(packs.map((pack) => pack.close()));
    },
  };
}

function joinInstructions(
  given: readonly (string | undefined)[],
  scrub: (text: string) => string,
): string | undefined {
  const parts = given.filter(Boolean);
  return parts.length > 0 ? scrub(parts.join('\n')) : undefined;
}

/** Computes a value when it is first needed. */
function once<T extends object>(compute: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= compute());
}

function runProfile(given: HostOptions['profile'] = 'readonly'): RunProfile {
  return typeof given === 'string' ? { name: given } : given;
}
