import type { UpstreamState } from '@toolkeel/contract';
import type * as Prom from 'prom-client';
import type { CircuitState, Metrics, Waiting } from './metrics.js';
import { Tally } from './tally.js';

type Instrumenting = Pick<
  typeof Prom,
  'Registry' | 'Counter' | 'Gauge' | 'Histogram' | 'collectDefaultMetrics'
>;

/** Numbers, so that an alert can say «above 0». */
const CIRCUIT_VALUES: Readonly<Record<CircuitState, number>> = Object.freeze({
  closed: 0,
  half_open: 1,
  open: 2,
});

/** From a quick read of a cache to a model that thinks for minutes. */
const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300,
];

/** The instruments, with the names that dashboards rely on. */
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

export interface PrometheusMetrics extends Metrics {
  readonly read: () => Promise<{ readonly type: string; readonly text: string }>;
}

/** How many durations are kept before they are counted. */
const BATCH = 1024;

/**
 * prom-client measures the event loop all the time for metrics that are not exposed here: with this
 * interval the measurement costs nothing.
 */
const NEVER_MS = 2 ** 31 - 1;

const MAX_UPSTREAMS = 128;

/** Arguments can name hosts, and each label is a series for good: those beyond the limit share one. */
class UpstreamLabels {
  readonly #known = new Set<string>();

  of(upstream: string): string {
    if (this.#known.size < MAX_UPSTREAMS) this.#known.add(upstream);
    return this.#known.has(upstream) ? upstream : 'other';
  }
}

/**
 * Counts with prom-client, which is loaded when somebody looks. Until then plain numbers do: a quick
 * call should not pay for a dashboard that nobody has open.
 */
export function prometheusMetrics(
  upstreams: () => Promise<readonly UpstreamState[]>,
  /** Asked when somebody looks; undefined where there is no journal, or it does not answer. */
  waiting: () => Promise<Waiting | undefined> = () => Promise.resolve(undefined),
  /** The version of the server, for `toolkeel_build_info`. */
  version = '',
): PrometheusMetrics {
  const calls = new Tally();
  const attempts = new Tally();
  const retries = new Tally();
  const exhausted = new Tally();
  const timeouts = new Tally();
  const replays = new Tally();
  const circuits = new Map<string, CircuitState>();
  const labels = new UpstreamLabels();
  let durations: { readonly tool: string; readonly seconds: number }[] = [];
  let loading: Promise<Instruments> | undefined;

  const settle = async (): Promise<Instruments> => {
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
      if (durations.length === BATCH) settle().catch(() => {});
    },
    attempts: (tool, n, upstream) => attempts.add(tool, n, upstream && labels.of(upstream)),
    retry: (tool) => retries.add(tool, 1),
    retryExhausted: (tool) => exhausted.add(tool, 1),
    timeout: (tool) => timeouts.add(tool, 1),
    replay: (tool) => replays.add(tool, 1),
    circuit: (upstream, state) => void circuits.set(labels.of(upstream), state),
    read: async () => {
      for (const { name, circuit } of await upstreams()) circuits.set(labels.of(name), circuit);
      const on = await settle();
      for (const { name, retryTokens } of await upstreams()) {
        if (retryTokens !== undefined) on.budgets.set({ upstream: labels.of(name) }, retryTokens);
      }
      // A figure that is not known is not zero.
      const { unknown = NaN, awaitingApproval = NaN } = (await waiting()) ?? {};
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
  // Some of the others break the naming rules of Prometheus.
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
    calls: counter(
      'toolkeel_tool_calls_total',
      'Calls that ended, by their code; ok is a success.',
      ['tool_name', 'code'],
    ),
    durations: new Histogram({
      name: 'toolkeel_tool_call_duration_seconds',
      help: 'How long calls took, retries and waits included.',
      labelNames: ['tool_name'],
      buckets: DURATION_BUCKETS,
      registers,
    }),
    attempts: counter('toolkeel_attempts_total', 'Requests to upstreams, retries included.', [
      'tool_name',
      'upstream',
    ]),
    retries: counter('retries_attempted_total', 'Retries that were made.', ['tool_name']),
    exhausted: counter(
      'retry_exhausted_total',
      'Calls that failed with all retries, or the budget for them, used up.',
      ['tool_name'],
    ),
    timeouts: counter('timeouts_total', 'Calls that the cap ended.', ['tool_name']),
    replays: counter(
      'toolkeel_idempotent_replays_total',
      'Calls that got the answer of an earlier one instead of acting again.',
      ['tool_name'],
    ),
    circuits: gauge('toolkeel_circuit_state', '0 closed, 1 half open, 2 open.', ['upstream']),
    budgets: gauge('toolkeel_retry_budget_tokens', 'Retries that can be made right now.', [
      'upstream',
    ]),
    unknown: gauge('toolkeel_operations_unknown', 'Operations with an unknown outcome.', []),
    approvals: gauge('toolkeel_approvals_pending', 'Operations that await approval.', []),
  };
}
