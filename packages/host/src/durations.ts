import type * as Prom from 'prom-client';

/** From a cached read to a language model that takes minutes. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300];

const NAME = 'toolkeel_tool_call_duration_seconds';
const HELP = 'Duration of calls, including retries and waits.';

interface Counts {
  /** By bucket, not cumulative; the last one has no bound. */
  readonly buckets: number[];
  sum: number;
}

/**
 * A histogram of the durations of calls by tool. The one of prom-client takes longer for an observation
 * than the rest of a quick call, and is loaded at the first scrape.
 */
export class CallDurations {
  readonly #byTool = new Map<string, Counts>();

  observe(tool: string, seconds: number): void {
    let counts = this.#byTool.get(tool);
    if (!counts) {
      counts = { buckets: Array.from({ length: BOUNDS.length + 1 }, () => 0), sum: 0 };
      this.#byTool.set(tool, counts);
    }
    let at = 0;
    while (at < BOUNDS.length && seconds > BOUNDS[at]!) at++;
    counts.buckets[at]!++;
    counts.sum += seconds;
  }

  /** Adds the histogram to a registry. */
  register(client: Pick<typeof Prom, 'Histogram'>, registry: Prom.Registry): void {
    const read = (): Prom.MetricValueWithName<string>[] => this.#values();
    class Durations extends client.Histogram {
      /** What the registry and `get` read. */
      getForPromString() {
        return Promise.resolve({
          name: NAME,
          help: HELP,
          type: 'histogram',
          values: read(),
          aggregator: 'sum',
        });
      }
    }
    registry.registerMetric(new Durations({ name: NAME, help: HELP, registers: [] }));
  }

  #values(): Prom.MetricValueWithName<string>[] {
    return [...this.#byTool].flatMap(([tool_name, { buckets, sum }]) => {
      let count = 0;
      const cumulative = buckets.map((inBucket, at) => ({
        metricName: `${NAME}_bucket`,
        labels: { le: BOUNDS[at] ?? '+Inf', tool_name },
        value: (count += inBucket),
      }));
      return [
        ...cumulative,
        { metricName: `${NAME}_sum`, labels: { tool_name }, value: sum },
        { metricName: `${NAME}_count`, labels: { tool_name }, value: count },
      ];
    });
  }
}
