import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { SeriesResponse, ToolSeries } from '../../../api/types.js';
import { api } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { clock } from '../../lib/clock.js';
import { formatCount, formatDuration, formatShare } from '../../lib/format.js';
import { Empty } from '../../ui/basics.js';
import { Result } from '../../ui/page.js';
import type * as Charting from './charts.js';

/** The series change each minute, and soon after calls; not with each call of a busy server. */
const REFRESH_MS = 10_000;

export function ToolHealth({ lastCall }: { readonly lastCall: number }): JSX.Element {
  const turn = Math.floor(clock.value / REFRESH_MS);
  const loaded = useLoad(api.series, 'series', lastCall === 0 ? 0 : turn);
  return (
    <section class="card" aria-labelledby="tool-health">
      <div class="card-head">
        <h2 id="tool-health">Calls of the last hour</h2>
      </div>
      <Result loaded={loaded} what="the last hour">
        {(series) =>
          series.all.total.calls === 0 ? (
            <Empty title="No calls in the last hour">
              <p>
                Connect an agent to a server that shares this journal, or try a read tool on the{' '}
                <a href="/tools">Tools</a> page.
              </p>
            </Empty>
          ) : (
            <Hour series={series} />
          )
        }
      </Result>
    </section>
  );
}

function Hour({ series }: { readonly series: SeriesResponse }): JSX.Element {
  const [chosen, choose] = useState<string | undefined>(undefined);
  const selected = series.tools.find(({ tool }) => tool === chosen);
  return (
    <>
      <Charts series={series} shown={selected ?? { tool: 'All tools', ...series.all }} />
      <div class="table-wrap" tabIndex={0} role="group" aria-labelledby="tool-health">
        <table>
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col" class="num">
                Calls
              </th>
              <th scope="col" class="num">
                Success
              </th>
              <th scope="col" class="num">
                p50
              </th>
              <th scope="col" class="num">
                p95
              </th>
              <th scope="col" class="hide-narrow">
                Most frequent errors
              </th>
            </tr>
          </thead>
          <tbody>
            {series.tools.slice(0, 12).map((tool) => (
              <ToolRow
                key={tool.tool}
                series={tool}
                isChosen={tool.tool === selected?.tool}
                onChoose={() => choose(tool.tool === chosen ? undefined : tool.tool)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface ToolRowProps {
  readonly series: ToolSeries;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function ToolRow({ series: { tool, total }, isChosen, onChoose }: ToolRowProps): JSX.Element {
  const errors = total.codes.filter(({ code }) => code !== 'ok').slice(0, 2);
  return (
    <tr class={isChosen ? 'is-chosen' : undefined}>
      <th scope="row" class="cell-name">
        <button
          type="button"
          class="link"
          aria-pressed={isChosen}
          title="Show it in the charts"
          onClick={onChoose}
        >
          {tool}
        </button>
      </th>
      <td class="num">{formatCount(total.calls)}</td>
      <td class={(total.success_ratio ?? 1) < 0.95 ? 'num tone-danger' : 'num'}>
        {formatShare(total.success_ratio ?? undefined)}
      </td>
      <td class="num">{formatDuration(total.p50_ms ?? undefined)}</td>
      <td class="num">{formatDuration(total.p95_ms ?? undefined)}</td>
      <td class="small hide-narrow">
        {errors.length === 0 ? (
          <span class="muted">none</span>
        ) : (
          errors.map(({ code, calls }) => (
            <a
              key={code}
              class="nowrap code-link"
              href={`/calls?tool=${encodeURIComponent(tool)}&code=${encodeURIComponent(code)}`}
            >
              {code} × {formatCount(calls)}
            </a>
          ))
        )}
      </td>
    </tr>
  );
}

interface ChartsProps {
  readonly series: SeriesResponse;
  readonly shown: ToolSeries;
}

/** The chart library is loaded after the page; its place is reserved so that nothing jumps. */
function Charts({ series, shown }: ChartsProps): JSX.Element {
  const [charts, setCharts] = useState<typeof Charting | undefined>(undefined);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    import('./charts.js').then(setCharts, () => setFailed(true));
  }, []);
  return (
    <div class="charts">
      {charts ? (
        <charts.HourCharts series={series} shown={shown} />
      ) : (
        <p class="muted small charts-wait">
          {failed
            ? 'The charts could not be loaded; the figures are below.'
            : 'Loading the charts …'}
        </p>
      )}
    </div>
  );
}
