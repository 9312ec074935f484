import type { JSX } from 'preact';
import type {
  ProcessState,
  RateLimitWindow,
  Statement,
  UpstreamState,
} from '../../../api/types.js';
import { clock } from '../../lib/clock.js';
import { formatCount, formatDuration, toMs } from '../../lib/format.js';
import { Badge, Empty, Meter, Time, type Tone } from '../../ui/basics.js';

interface Row {
  readonly key: string;
  readonly process: ProcessState;
  readonly pack: string;
  readonly upstream: UpstreamState;
  /** As the statement about it says, for all processes. */
  readonly failingSince: string | undefined;
}

const HEALTH: Readonly<Record<UpstreamState['health'], readonly [Tone, string]>> = {
  ok: ['ok', 'Works'],
  degraded: ['warn', 'Degraded'],
  failing: ['danger', 'Failing'],
  idle: ['idle', 'Idle'],
};

/** The worst first, then by name: an outage is not below the fold. */
const ORDER: readonly UpstreamState['health'][] = ['failing', 'degraded', 'ok', 'idle'];

const FAILING: readonly Statement['kind'][] = ['circuit_open', 'upstream_failing'];

function upstreamRows({ processes, statements }: UpstreamsProps): readonly Row[] {
  const said = statements.filter(({ kind }) => FAILING.includes(kind));
  const sinceOf = (pack: string, upstream: string): string | undefined =>
    said.find((one) => one.pack === pack && one.upstream === upstream)?.since;
  return processes
    .filter(({ state }) => state !== 'ended')
    .flatMap((process) =>
      process.packs.flatMap((pack) =>
        pack.upstreams.map((upstream) => ({
          key: `${process.id} ${pack.name} ${upstream.name}`,
          process,
          pack: pack.name,
          upstream,
          failingSince: sinceOf(pack.name, upstream.name) ?? upstream.failing_since,
        })),
      ),
    )
    .toSorted(
      (a, b) =>
        ORDER.indexOf(a.upstream.health) - ORDER.indexOf(b.upstream.health) ||
        a.upstream.name.localeCompare(b.upstream.name),
    );
}

interface UpstreamsProps {
  readonly processes: readonly ProcessState[];
  readonly statements: readonly Statement[];
}

export function Upstreams(props: UpstreamsProps): JSX.Element {
  const rows = upstreamRows(props);
  return (
    <section class="card" aria-labelledby="upstreams">
      <div class="card-head">
        <h2 id="upstreams">Upstreams and guarded servers</h2>
      </div>
      {rows.length === 0 ? (
        <Empty title="No upstream has been used yet">
          <p>
            Upstreams appear with their first request. Call a tool from an agent, or try a read tool
            on the <a href="/tools">Tools</a> page.
          </p>
        </Empty>
      ) : (
        <div class="table-wrap" tabIndex={0} role="group" aria-labelledby="upstreams">
          <table class="stacks">
            <thead>
              <tr>
                <th scope="col">Upstream</th>
                <th scope="col">Health</th>
                <th scope="col">Circuit</th>
                <th scope="col">Retry budget</th>
                <th scope="col">Rate limits</th>
                <th scope="col">Process</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <UpstreamRow key={row.key} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function UpstreamRow({ row }: { readonly row: Row }): JSX.Element {
  const { process, pack, upstream } = row;
  return (
    <tr>
      <th scope="row" class="cell-name is-host">
        <span class="wrap-anywhere">{upstream.name}</span>
        {pack !== upstream.name && <div class="small muted">{pack}</div>}
      </th>
      <td data-label="Health">
        <Health {...row} />
      </td>
      <td data-label="Circuit">
        <Circuit upstream={upstream} />
      </td>
      <td data-label="Retry budget">
        <Budget upstream={upstream} />
      </td>
      <td data-label="Rate limits">
        <RateLimits windows={upstream.rate_limits} />
      </td>
      <td data-label="Process" class="small">
        {process.name}
        <div class="muted">
          {process.transport} · pid {process.pid}
        </div>
      </td>
    </tr>
  );
}

function Health({ process, upstream, failingSince }: Omit<Row, 'key' | 'pack'>): JSX.Element {
  const { health, attempts, failures, failing_since, last_failure } = upstream;
  if (process.state === 'lost') {
    return <Badge tone="unknown">Not known: its process is lost</Badge>;
  }
  const [tone, text] = HEALTH[health];
  return (
    <>
      <Badge tone={tone}>{text}</Badge>
      <div class="small muted">
        {attempts > 0 &&
          `${formatCount(failures)} of ${formatCount(attempts)} attempts failed in 5 min`}
        {failing_since !== undefined && (
          <>
            <br />
            failing since <Time at={failingSince} />
          </>
        )}
        {last_failure && health !== 'ok' && (
          <>
            <br />
            last fault: {last_failure.fault.replaceAll('_', ' ')}
            {last_failure.status !== undefined && ` (${last_failure.status})`}
          </>
        )}
      </div>
    </>
  );
}

const CIRCUIT: Readonly<Record<UpstreamState['circuit']['state'], readonly [Tone, string]>> = {
  closed: ['ok', 'Closed'],
  half_open: ['warn', 'Half-open'],
  open: ['danger', 'Open'],
};

function Circuit({ upstream: { circuit } }: { readonly upstream: UpstreamState }): JSX.Element {
  const [tone, text] = CIRCUIT[circuit.state];
  const { since, probe_at, changes } = circuit;
  // A probe that fails opens it again; the outage is older than that.
  const isReopened = changes.at(-2)?.state === 'half_open';
  const isDue = probe_at !== undefined && toMs(probe_at) <= clock.value;
  return (
    <>
      <Badge tone={tone}>{text}</Badge>
      <div class="small muted">
        {circuit.state === 'closed' && 'requests are sent'}
        {circuit.state === 'half_open' && 'a call is sent as a test'}
        {circuit.state === 'open' && (
          <>
            {isDue ? 'the next call is sent as a test' : 'no request is sent'}
            {since !== undefined && (
              <>
                <br />
                {isReopened ? 'last test failed' : 'since'} <Time at={since} />
              </>
            )}
            {probe_at !== undefined && !isDue && (
              <>
                <br />
                the next call after <Time at={probe_at} /> is a test
              </>
            )}
          </>
        )}
      </div>
    </>
  );
}

function Budget({ upstream: { retry_budget } }: { readonly upstream: UpstreamState }): JSX.Element {
  if (!retry_budget) return <span class="muted">none</span>;
  const { tokens, capacity } = retry_budget;
  const share = capacity > 0 ? tokens / capacity : 0;
  const text = `${Math.floor(tokens)} of ${capacity} retries left`;
  return (
    <>
      <Meter label={`Retry budget: ${text}`} value={tokens} max={capacity} low={share < 0.2} />
      <div class={share < 0.2 ? 'small tone-danger' : 'small muted'}>{text}</div>
    </>
  );
}

function RateLimits({ windows }: { readonly windows: readonly RateLimitWindow[] }): JSX.Element {
  const open = windows.filter(({ resets_at }) => toMs(resets_at) > clock.value);
  if (open.length === 0) return <span class="muted">none reported</span>;
  const shown = open.toSorted((a, b) => a.remaining / a.limit - b.remaining / b.limit).slice(0, 3);
  return (
    <ul class="limits">
      {shown.map((limit) => (
        <li key={`${limit.route} ${limit.name} ${limit.limit}`}>
          <Meter
            label={`${limit.remaining} of ${limit.limit} requests left`}
            value={limit.remaining}
            max={limit.limit}
            low={limit.remaining / limit.limit < 0.1}
          />{' '}
          <span class={limit.remaining === 0 ? 'small tone-danger' : 'small'}>
            {formatCount(limit.remaining)} of {formatCount(limit.limit)}
          </span>
          <div class="small muted wrap-anywhere">
            {[limit.route, limit.name].filter(Boolean).join(' · ')}
            {(limit.route ?? limit.name) !== undefined && ', '}
            resets in{' '}
            {formatDuration(
              Math.max(0, Math.ceil((toMs(limit.resets_at) - clock.value) / 1000) * 1000),
            )}
          </div>
        </li>
      ))}
      {open.length > shown.length && (
        <li class="small muted">and {open.length - shown.length} more</li>
      )}
    </ul>
  );
}
