import type { UpstreamState } from '@toolkeel/contract';
import type * as Prom from 'prom-client';

/** Receives the measurements of calls. Implementations must be fast and must not throw. */
export interface Metrics {
  readonly callEnded: (tool: string, code: string, seconds: number) => void;
  readonly attempts: (tool: string, count: number, upstream?: string) => void;
  readonly retry: (tool: string) => void;
  /** A call that failed with its retries or the retry budget exhausted. */
  readonly retryExhausted: (tool: string) => void;
  /** A call that its deadline ended. */
  readonly timeout: (tool: string) => void;
  /** A call answered with a stored result. */
  readonly replay: (tool: string) => void;
  readonly circuit: (upstream: string, state: CircuitState) => void;
}

/** Operations that need an operator. */
interface PendingCounts {
  readonly unknown: number;
  readonly awaitingApproval: number;
}

export type CircuitState = 'closed' | 'half_open' | 'open';

/** Counts by tool and one more label, kept until they are exported. */
class CounterBuffer {
  readonly #counts = new Map<string, Map<string, number>>();

  add(tool: string, count: number, label = ''): void {
    let ofTool = this.#counts.get(tool);
    if (!ofTool) {
      ofTool = new Map<string, number>();
      this.#counts.set(tool, ofTool);
    }
    ofTool.set(label, (ofTool.get(label) ?? 0) + count);
  }

  take(each: (tool: string, label: string, count: number) => void): void {
    for (const [tool, labels] of this.#counts) {
      for (const [label, count] of labels) each(tool, label, count);
    }
    this.#counts.clear();
  }
}

type Instrumenting = Pick<
  typeof Prom,
  'Registry' | 'Counter' | 'Gauge' | 'Histogram' | 'collectDefaultMetrics'
>;

/** Ordered, so that an alert can compare with 0. */
const CIRCUIT_VALUES: Readonly<Record<CircuitState, number>> = Object.freeze({
  closed: 0,
  half_open: 1,
  open: 2,
});

/** From a cached read to a language model that takes minutes. */
const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300,
];

interface Instruments {
  readonly registry: Prom.Registry;
  readonly calls: Prom.Counter<'tool_name' | 'code'>;
  readonly durations: Prom.Histogram<'tool_name'>;
  readonly attempts: Prom.Counter<'tool_name' | 'upstream'>;
  readonly retries: Prom.Counter<'tool_name'>;
  readonly exhausted: Prom.Counter<'tool_name'>;
  readonly timeouts: Prom.Counter<'tool_name'>;
  readonly replays: Prom.Counter<'tool_name'>;
  readonly circuits: Prom.Gauge<'upstream'>;
  readonly budgets: Prom.Gauge<'upstream'>;
  readonly unknown: Prom.Gauge;
  readonly approvals: Prom.Gauge;
}

interface PrometheusMetrics extends Metrics {
  readonly read: () => Promise<{ readonly type: string; readonly text: string }>;
}

/** Durations that are buffered before they are exported. */
const BATCH = 1024;

/**
 * prom-client samples the event loop continuously for metrics that are not exposed here. This interval
 * disables the sampling.
 */
const NEVER_MS = 2 ** 31 - 1;

const MAX_UPSTREAMS = 128;

/** Arguments can name hosts, and a series is never removed: upstreams beyond the limit share a label. */
class UpstreamLabels {
  readonly #known = new Set<string>();

  of(upstream: string): string {
    if (this.#known.size < MAX_UPSTREAMS) this.#known.add(upstream);
    return this.#known.has(upstream) ? upstream : 'other';
  }
}

/**
 * Metrics in prom-client, which is loaded at the first scrape. Until then plain numbers are counted, so
 * that quick calls do not pay for a dashboard.
 */
export function prometheusMetrics(
  upstreams: () => Promise<readonly UpstreamState[]>,
  /** Called at each scrape; undefined without a journal, or if the journal does not respond. */
  pendingCounts: () => Promise<PendingCounts | undefined> = () => Promise.resolve(undefined),
  /** The version of the server, for `toolkeel_build_info`. */
  version = '',
): PrometheusMetrics {
  const calls = new CounterBuffer();
  const attempts = new CounterBuffer();
  const retries = new CounterBuffer();
  const exhausted = new CounterBuffer();
  const timeouts = new CounterBuffer();
  const replays = new CounterBuffer();
  const circuits = new Map<string, CircuitState>();
  const labels = new UpstreamLabels();
  let durations: { readonly tool: string; readonly seconds: number }[] = [];
  let loading: Promise<Instruments> | undefined;

  const flush = async (): Promise<Instruments> => {
    loading ??= import('prom-client').then(({ default: client }) =>
      createInstruments(client, version),
    );
    const on = await loading;
    calls.take((tool, code, n) => on.calls.inc({ tool_name: tool, code }, n));
    attempts.take((tool, upstream, n) => on.attempts.inc({ tool_name: tool, upstream }, n));
    retries.take((tool, _, n) => on.retries.inc({ tool_name: tool }, n));
    exhausted.take((tool, _, n) => on.exhausted.inc({ tool_name: tool }, n));
    timeouts.take((tool, _, n) => on.timeouts.inc({ tool_name: tool }, n));
    replays.take((tool, _, n) => on.replays.inc({ tool_name: tool }, n));
    for (const { tool, seconds } of durations) on.durations.observe({ tool_name: tool }, seconds);
    durations = [];
    for (const [upstream, state] of circuits) on.circuits.set({ upstream }, CIRCUIT_VALUES[state]);
    return on;
  };
  return {
    callEnded: (tool, code, seconds) => {
      calls.add(tool, 1, code);
      durations.push({ tool, seconds });
      if (durations.length === BATCH) flush().catch(() => {});
    },
    attempts: (tool, n, upstream) => attempts.add(tool, n, upstream && labels.of(upstream)),
    retry: (tool) => retries.add(tool, 1),
    retryExhausted: (tool) => exhausted.add(tool, 1),
    timeout: (tool) => timeouts.add(tool, 1),
    replay: (tool) => replays.add(tool, 1),
    circuit: (upstream, state) => void circuits.set(labels.of(upstream), state),
    read: async () => {
      for (const { name, circuit } of await upstreams()) circuits.set(labels.of(name), circuit);
      const on = await flush();
      for (const { name, retryTokens } of await upstreams()) {
        if (retryTokens !== undefined) on.budgets.set({ upstream: labels.of(name) }, retryTokens);
      }
      // A missing count is not zero.
      const { unknown = NaN, awaitingApproval = NaN } = (await pendingCounts()) ?? {};
      on.unknown.set(unknown);
      on.approvals.set(awaitingApproval);
      return { type: on.registry.contentType, text: await on.registry.metrics() };
    },
  };
}

function createInstruments(client: Instrumenting, version: string): Instruments {
  const { Registry, Counter, Gauge, Histogram, collectDefaultMetrics } = client;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  // Some of the other default metrics violate the naming conventions of Prometheus.
  for (const { name } of registry.getMetricsAsArray())
    if (!name.startsWith('process_')) registry.removeSingleMetric(name);
  const registers = [registry];
  const counter = <L extends string>(
    name: string,
    help: string,
    labelNames: L[],
  ): Prom.Counter<L> => new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]): Prom.Gauge<L> =>
    new Gauge({ name, help, labelNames, registers });
  gauge(
    'toolkeel_build_info',
    'Always 1; the labels name the server version and the Node version.',
    ['version', 'node'],
  ).set({ version, node: process.versions.node }, 1);
  return {
    registry,
    calls: counter('toolkeel_tool_calls_total', 'Completed calls by error code; ok is success.', [
      'tool_name',
      'code',
    ]),
    durations: new Histogram({
      name: 'toolkeel_tool_call_duration_seconds',
      help: 'Duration of calls, including retries and waits.',
      labelNames: ['tool_name'],
      buckets: DURATION_BUCKETS,
      registers,
    }),
    attempts: counter('toolkeel_attempts_total', 'Requests to upstreams, including retries.', [
      'tool_name',
      'upstream',
    ]),
    retries: counter('retries_attempted_total', 'Retries.', ['tool_name']),
    exhausted: counter(
      'retry_exhausted_total',
      'Calls that failed with their retries or the retry budget exhausted.',
      ['tool_name'],
    ),
    timeouts: counter('timeouts_total', 'Calls ended by their deadline.', ['tool_name']),
    replays: counter(
      'toolkeel_idempotent_replays_total',
      'Calls answered with a stored result instead of executing again.',
      ['tool_name'],
    ),
    circuits: gauge('toolkeel_circuit_state', '0 closed, 1 half open, 2 open.', ['upstream']),
    budgets: gauge('toolkeel_retry_budget_tokens', 'Retries that the budget currently allows.', [
      'upstream',
    ]),
    unknown: gauge('toolkeel_operations_unknown', 'Operations with an unknown outcome.', []),
    approvals: gauge('toolkeel_approvals_pending', 'Operations that await approval.', []),
  };
}
