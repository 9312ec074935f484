import type { UpstreamState } from '@toolkeel/contract';
import type * as Prom from 'prom-client';
import { CallDurations } from './durations.js';

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

export type CircuitState = 'closed' | 'half_open' | 'open';

/** Operations that need an operator. */
interface PendingCounts {
  readonly unknown: number;
  readonly awaitingApproval: number;
}

interface PrometheusMetrics extends Metrics {
  readonly read: () => Promise<{ readonly type: string; readonly text: string }>;
}

/** All counters have the label `tool_name`; some have a second one. */
const COUNTERS = {
  calls: ['toolkeel_tool_calls_total', 'Completed calls by error code; ok is success.', 'code'],
  attempts: ['toolkeel_attempts_total', 'Requests to upstreams, including retries.', 'upstream'],
  retries: ['retries_attempted_total', 'Retries.'],
  exhausted: [
    'retry_exhausted_total',
    'Calls that failed with their retries or the retry budget exhausted.',
  ],
  timeouts: ['timeouts_total', 'Calls ended by their deadline.'],
  replays: [
    'toolkeel_idempotent_replays_total',
    'Calls answered with a stored result instead of executing again.',
  ],
} as const satisfies Record<string, readonly [name: string, help: string, label?: string]>;

type CounterName = keyof typeof COUNTERS;

const COUNTER_NAMES = Object.keys(COUNTERS) as CounterName[];

const byCounter = <T>(create: (counter: CounterName) => T): Readonly<Record<CounterName, T>> =>
  Object.fromEntries(COUNTER_NAMES.map((name) => [name, create(name)])) as Record<CounterName, T>;

/** Ordered, so that an alert can compare with 0. */
const CIRCUIT_VALUES: Readonly<Record<CircuitState, number>> = Object.freeze({
  closed: 0,
  half_open: 1,
  open: 2,
});

const MAX_UPSTREAMS = 128;
/**
 * prom-client samples the event loop continuously for metrics that are not exposed here. This interval
 * disables the sampling.
 */
const NEVER_MS = 2 ** 31 - 1;

/** Counts by tool and second label, until they are exported. */
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
  const buffers = byCounter(() => new CounterBuffer());
  const circuits = new Map<string, CircuitState>();
  const labelOf = upstreamLabels();
  const durations = new CallDurations();
  let loading: Promise<Instruments> | undefined;

  const flush = async (): Promise<Instruments> => {
    loading ??= import('prom-client').then(({ default: client }) =>
      createInstruments(client, version, durations),
    );
    const instruments = await loading;
    for (const name of COUNTER_NAMES) {
      const [, , label] = COUNTERS[name] as readonly string[];
      buffers[name].take((tool, value, count) =>
        instruments.counters[name].inc(
          { tool_name: tool, ...(label && { [label]: value }) },
          count,
        ),
      );
    }
    for (const [upstream, state] of circuits) {
      instruments.circuits.set({ upstream }, CIRCUIT_VALUES[state]);
    }
    return instruments;
  };
  return {
    callEnded: (tool, code, seconds) => {
      buffers.calls.add(tool, 1, code);
      durations.observe(tool, seconds);
    },
    attempts: (tool, n, upstream) => buffers.attempts.add(tool, n, upstream && labelOf(upstream)),
    retry: (tool) => buffers.retries.add(tool, 1),
    retryExhausted: (tool) => buffers.exhausted.add(tool, 1),
    timeout: (tool) => buffers.timeouts.add(tool, 1),
    replay: (tool) => buffers.replays.add(tool, 1),
    circuit: (upstream, state) => void circuits.set(labelOf(upstream), state),
    read: async () => {
      for (const { name, circuit } of await upstreams()) circuits.set(labelOf(name), circuit);
      const { registry, budgets, up, unknown, approvals } = await flush();
      for (const { name, retryTokens, isUp } of await upstreams()) {
        if (retryTokens !== undefined) budgets.set({ upstream: labelOf(name) }, retryTokens);
        if (isUp !== undefined) up.set({ upstream: labelOf(name) }, Number(isUp));
      }
      // A missing count is not zero.
      const pending = await pendingCounts();
      unknown.set(pending?.unknown ?? NaN);
      approvals.set(pending?.awaitingApproval ?? NaN);
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** Arguments can name hosts, and a series is never removed: upstreams beyond the limit share a label. */
function upstreamLabels(): (upstream: string) => string {
  const known = new Set<string>();
  return (upstream) => {
    if (known.size < MAX_UPSTREAMS) known.add(upstream);
    return known.has(upstream) ? upstream : 'other';
  };
}

type Instruments = ReturnType<typeof createInstruments>;

function createInstruments(
  client: Omit<typeof Prom, 'default'>,
  version: string,
  durations: CallDurations,
) {
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  // Some of the other default metrics violate the naming conventions of Prometheus.
  for (const { name } of registry.getMetricsAsArray()) {
    if (!name.startsWith('process_')) registry.removeSingleMetric(name);
  }
  const registers = [registry];
  durations.register(client, registry);
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new client.Gauge<L>({ name, help, labelNames, registers });
  gauge('toolkeel_build_info', 'Always 1; the labels are the versions of the server and Node.', [
    'version',
    'node',
  ]).set({ version, node: process.versions.node }, 1);
  return {
    registry,
    counters: byCounter((counter) => {
      const [name, help, label] = COUNTERS[counter] as readonly [string, string, string?];
      const labelNames = ['tool_name', ...(label === undefined ? [] : [label])];
      return new client.Counter({ name, help, labelNames, registers });
    }),
    circuits: gauge('toolkeel_circuit_state', '0 closed, 1 half open, 2 open.', ['upstream']),
    budgets: gauge('toolkeel_retry_budget_tokens', 'Retries that the budget currently allows.', [
      'upstream',
    ]),
    up: gauge('toolkeel_upstream_up', '1 if the upstream is connected; servers behind a guard.', [
      'upstream',
    ]),
    unknown: gauge('toolkeel_operations_unknown', 'Operations with an unknown outcome.', []),
    approvals: gauge('toolkeel_approvals_pending', 'Operations that await approval.', []),
  };
}
