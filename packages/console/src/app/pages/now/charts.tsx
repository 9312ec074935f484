import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { SeriesResponse, ToolSeries } from '../../../api/types.js';
import { formatDuration, formatShare, toMs } from '../../lib/format.js';
import { theme } from '../../lib/settings.js';

interface HourProps {
  readonly series: SeriesResponse;
  readonly shown: ToolSeries;
}

interface Line {
  readonly label: string;
  /** A class whose colour the line has: the palette stays in the style sheet. */
  readonly tone: 'accent' | 'ok' | 'warn';
  readonly values: readonly (number | null)[];
  readonly bars?: boolean;
}

export function HourCharts({ series, shown }: HourProps): JSX.Element {
  const at = series.minutes.map((minute) => toMs(minute) / 1000);
  return (
    <>
      <Chart
        title={`${shown.tool}: calls a minute`}
        at={at}
        lines={[{ label: 'calls', tone: 'accent', values: shown.calls, bars: true }]}
        format={(value) => String(Math.round(value))}
      />
      <Chart
        title="Success"
        at={at}
        lines={[{ label: 'success', tone: 'ok', values: shown.success_ratio }]}
        format={(value) => formatShare(value)}
        range={[0, 1]}
      />
      <Chart
        title="Duration: p50 and p95"
        at={at}
        lines={[
          { label: 'p50', tone: 'accent', values: shown.p50_ms },
          { label: 'p95', tone: 'warn', values: shown.p95_ms },
        ]}
        format={(value) => formatDuration(value)}
      />
    </>
  );
}

interface ChartProps {
  readonly title: string;
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  readonly range?: readonly [number, number];
}

const HEIGHT = 132;

function Chart({ title, at, lines, format, range }: ChartProps): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const data = [at, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;
  const scheme = theme.value;
  useEffect(() => {
    const element = holder.current;
    if (!element) return undefined;
    const chart = new uPlot(optionsFor(element, lines, format, range), data, element);
    const observer = new ResizeObserver(() => {
      chart.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [scheme, JSON.stringify(data)]);
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div
        ref={holder}
        class="chart-area"
        role="img"
        aria-label={`${title}. ${summary(lines, format)}`}
      >
        {(['accent', 'ok', 'warn', 'muted', 'line'] as const).map((tone) => (
          <i key={tone} class={`probe-${tone}`} hidden />
        ))}
      </div>
    </figure>
  );
}

function optionsFor(
  element: HTMLElement,
  lines: readonly Line[],
  format: (value: number) => string,
  range: readonly [number, number] | undefined,
): uPlot.Options {
  // A canvas does not know custom properties.
  const colour = (tone: string): string => {
    const probe = element.querySelector(`.probe-${tone}`);
    return probe ? getComputedStyle(probe).color : 'gray';
  };
  const axis = {
    stroke: colour('muted'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 12] });
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    scales: {
      y: range ? { range: [...range] } : { range: (_chart, _min, max) => [0, (max || 1) * 1.08] },
    },
    axes: [
      { ...axis, size: 24, space: 60, values: (_chart, ticks) => ticks.map(clockOf) },
      {
        ...axis,
        size: 58,
        space: 34,
        values: (_chart, ticks) => ticks.map((tick) => (tick === 0 ? '0' : format(tick))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, tone, values, bars: asBars }) => ({
        label,
        stroke: colour(tone),
        width: asBars ? 0 : 2,
        spanGaps: false,
        points: asBars
          ? { show: false }
          : { show: true, size: 4, fill: colour(tone), filter: () => isolated(values) },
        ...(asBars && bars && { paths: bars, fill: colour(tone) }),
      })),
    ],
  };
}

/** A value between two minutes without calls has no line to lie on. */
const isolated = (values: Line['values']): number[] =>
  values.flatMap((value, at) =>
    value !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null
      ? [at]
      : [],
  );

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const clockOf = (seconds: number): string => CLOCK.format(seconds * 1000);

/** What a chart shows, for those who do not see it. */
function summary(lines: readonly Line[], format: (value: number) => string): string {
  return lines
    .map(({ label, values }) => {
      const known = values.filter((value) => value !== null);
      if (known.length === 0) return `${label}: no calls`;
      return `${label} between ${format(Math.min(...known))} and ${format(Math.max(...known))}`;
    })
    .join('; ');
}
