import type { SeriesResponse, ToolSeries } from '@toolkeel/console';
import { iso } from './process-view.js';

const MINUTE_MS = 60_000;
const MINUTES = 60;
/** Latencies are counted in buckets of 2 %, so that a busy hour needs little memory. */
const GROWTH = Math.log(1.02);
/** Tool names come from servers; more are counted together. */
const MAX_TOOLS = 500;
const OTHERS = '(others)';
const ASKED = 'approval_required';

interface Counted {
  calls: number;
  ok: number;
  /** Calls that wait for a person: they neither succeeded nor failed. */
  asked: number;
  readonly latencies: Map<number, number>;
  readonly codes: Map<string, number>;
}

interface SeriesCall {
  readonly tool: string;
  readonly code: string;
  readonly at: number;
  readonly elapsedMs: number;
}

/** Calls of the last hour by tool and minute, counted as they are recorded. */
export class Series {
  /** By minute, then by tool. */
  readonly #minutes = new Map<number, Map<string, Counted>>();
  readonly #tools = new Set<string>();

  add({ tool, code, at, elapsedMs }: SeriesCall, now: number): void {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute <= Math.floor(now / MINUTE_MS) - MINUTES) return;
    if (this.#tools.size < MAX_TOOLS) this.#tools.add(tool);
    const name = this.#tools.has(tool) ? tool : OTHERS;
    const tools = this.#minutes.get(minute) ?? new Map<string, Counted>();
    this.#minutes.set(minute, tools);
    const counted = tools.get(name) ?? empty();
    tools.set(name, counted);
    counted.calls++;
    if (code === 'ok') counted.ok++;
    else increment(counted.codes, code, 1);
    if (code === ASKED) counted.asked++;
    increment(counted.latencies, Math.ceil(Math.log(Math.max(1, elapsedMs)) / GROWTH), 1);
  }

  read(now: number, only?: string): SeriesResponse {
    const last = Math.floor(now / MINUTE_MS);
    const minutes = Array.from({ length: MINUTES }, (_, index) => last - MINUTES + 1 + index);
    for (const minute of this.#minutes.keys()) {
      if (minute <= last - MINUTES) this.#minutes.delete(minute);
    }
    const counts = minutes.map((minute) => this.#minutes.get(minute));
    const names = new Set(counts.flatMap((tools) => [...(tools?.keys() ?? [])]));
    const tools = [...names]
      .filter((name) => only === undefined || name === only)
      .map((tool) => ({ tool, ...seriesOf(counts.map((byTool) => byTool?.get(tool))) }))
      .toSorted((one, other) => other.total.calls - one.total.calls);
    const all = seriesOf(counts.map((byTool) => byTool && sum([...byTool.values()])));
    return { minutes: minutes.map((minute) => iso(minute * MINUTE_MS)), tools, all };
  }

  /** Calls and failures since a time, at the precision of minutes. */
  totals(
    since: number,
  ): ReadonlyMap<
    string,
    { readonly calls: number; readonly failed: number; readonly code: string }
  > {
    const recent = [...this.#minutes].filter(([minute]) => (minute + 1) * MINUTE_MS > since);
    const names = new Set(recent.flatMap(([, tools]) => [...tools.keys()]));
    return new Map(
      [...names].map((name) => {
        const counted = sum(recent.flatMap(([, tools]) => tools.get(name) ?? []));
        const worst = mostFrequent(counted.codes).find(({ code }) => code !== ASKED);
        const { calls, ok, asked } = counted;
        return [name, { calls, failed: calls - ok - asked, code: worst?.code ?? '' }];
      }),
    );
  }
}

function seriesOf(counts: readonly (Counted | undefined)[]): Omit<ToolSeries, 'tool'> {
  const total = sum(counts.flatMap((counted) => counted ?? []));
  return {
    calls: counts.map((counted) => counted?.calls ?? 0),
    success_ratio: counts.map(ratio),
    p50_ms: counts.map((counted) => percentile(counted, 0.5)),
    p95_ms: counts.map((counted) => percentile(counted, 0.95)),
    total: {
      calls: total.calls,
      success_ratio: ratio(total),
      p50_ms: percentile(total, 0.5),
      p95_ms: percentile(total, 0.95),
      codes: mostFrequent(total.codes),
    },
  };
}

function ratio(counted: Counted | undefined): number | null {
  const ended = counted ? counted.calls - counted.asked : 0;
  return counted && ended > 0 ? counted.ok / ended : null;
}

/** The upper end of the bucket, at most 2 % above the value. */
function percentile(counted: Counted | undefined, share: number): number | null {
  if (!counted || counted.calls === 0) return null;
  let left = Math.ceil(share * counted.calls);
  for (const [bucket, calls] of [...counted.latencies].toSorted(([a], [b]) => a - b)) {
    left -= calls;
    if (left <= 0) return Math.round(Math.exp(bucket * GROWTH) * 10) / 10;
  }
  return null;
}

function mostFrequent(codes: ReadonlyMap<string, number>) {
  return [...codes]
    .map(([code, calls]) => ({ code, calls }))
    .toSorted((one, other) => other.calls - one.calls);
}

function sum(counts: readonly Counted[]): Counted {
  const total = empty();
  for (const { calls, ok, asked, latencies, codes } of counts) {
    total.calls += calls;
    total.ok += ok;
    total.asked += asked;
    for (const [bucket, count] of latencies) increment(total.latencies, bucket, count);
    for (const [code, count] of codes) increment(total.codes, code, count);
  }
  return total;
}

function empty(): Counted {
  return { calls: 0, ok: 0, asked: 0, latencies: new Map(), codes: new Map() };
}

function increment<K>(counts: Map<K, number>, key: K, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
