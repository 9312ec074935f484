import type { JSX } from 'preact';
import type { NowResponse, Statement } from '../../../api/types.js';
import { connection, live } from '../../data/stream.js';
import { clock } from '../../lib/clock.js';
import { formatSpan, plural, toMs } from '../../lib/format.js';
import { Empty, Time } from '../../ui/basics.js';
import { Icon } from '../../ui/icons.js';
import { Processes } from './processes.js';
import { ToolHealth } from './tool-health.js';
import { Upstreams } from './upstreams.js';

/** Sentences first: what is broken, since when, what is affected, how old the data is. */
export function Now(): JSX.Element {
  const state = live.value;
  if (!state) {
    return (
      <Empty title="The state is not known">
        <p>The server could not be reached, so nothing can be said about your tools.</p>
      </Empty>
    );
  }
  return (
    <>
      <Verdict now={state.now} />
      <Statements now={state.now} />
      <Upstreams processes={state.processes} />
      <ToolHealth lastCall={state.calls[0]?.seq ?? 0} />
      <Processes processes={state.processes} />
    </>
  );
}

function Verdict({ now }: { readonly now: NowResponse }): JSX.Element {
  const { counts, status } = now;
  const isLost = connection.value.state === 'lost';
  const headline = isLost
    ? 'The present state is not known'
    : {
        ok: 'Everything works',
        attention: 'Something waits for you',
        broken: 'Something is broken',
      }[status];
  const tone = isLost ? 'danger' : { ok: 'ok', attention: 'warn', broken: 'danger' }[status];
  return (
    <section class={`verdict is-${tone}`} aria-labelledby="verdict">
      <span class="verdict-icon">
        <Icon
          name={isLost ? 'unknown' : tone === 'ok' ? 'ok' : tone === 'warn' ? 'warn' : 'danger'}
        />
      </span>
      <div>
        <h1 id="verdict">{headline}</h1>
        <p>
          {plural(counts.calls_last_hour, 'call')} in the last hour,{' '}
          {counts.failed_last_hour === 0 ? 'none failed' : `${counts.failed_last_hour} failed`}.{' '}
          {inFlight(counts)} {processes(counts)}
          <DataAge now={now} />
        </p>
      </div>
    </section>
  );
}

function inFlight({ in_flight, retrying }: NowResponse['counts']): string {
  if (in_flight === 0) return 'None in flight.';
  if (retrying === 0) return `${in_flight} in flight.`;
  return `${in_flight} in flight, ${retrying} of them waiting or retrying.`;
}

function processes({ processes_live, processes_lost }: NowResponse['counts']): string {
  const lost = processes_lost === 0 ? '' : `, ${processes_lost} lost`;
  return `${plural(processes_live, 'live process', 'live processes')}${lost}`;
}

function DataAge({ now }: { readonly now: NowResponse }): JSX.Element {
  if (now.oldest_report_ms === undefined) return <>; none has reported yet.</>;
  const seconds = Math.ceil((clock.value - toMs(now.at) + now.oldest_report_ms) / 1000);
  return <>; the data is at most {formatSpan(seconds * 1000)} old.</>;
}

function Statements({ now }: { readonly now: NowResponse }): JSX.Element | null {
  if (now.statements.length === 0) return null;
  return (
    <ul class="statements" aria-label="What is broken or waits for you">
      {now.statements.map((statement) => (
        <StatementItem key={`${statement.kind} ${statement.text}`} statement={statement} />
      ))}
    </ul>
  );
}

function StatementItem({ statement }: { readonly statement: Statement }): JSX.Element {
  const { severity, text, what_to_do, since, until, affected_calls, tools } = statement;
  const target = targetOf(statement);
  return (
    <li class={severity === 'broken' ? 'note is-danger' : `note is-${softTone(statement)}`}>
      <div>
        <strong class="wrap-anywhere">{text}</strong>
        <p class="small muted statement-facts">
          {since !== undefined && (
            <span>
              Since <Time at={since} zone /> ({formatSpan(clock.value - toMs(since))}).
            </span>
          )}
          {until !== undefined && (
            <span>
              {UNTIL[statement.kind] ?? 'Until'} <Time at={until} zone />
              {toMs(until) > clock.value && ` (in ${formatSpan(toMs(until) - clock.value)})`}.
            </span>
          )}
          {affected_calls !== undefined && affected_calls > 0 && (
            <span>{plural(affected_calls, 'call')} affected.</span>
          )}
          {tools !== undefined && tools.length > 0 && <span>Tools: {someOf(tools)}.</span>}
        </p>
        {what_to_do !== undefined && <p class="small wrap-anywhere">{what_to_do}</p>}
      </div>
      {target && (
        <a class="button is-small" href={target.href}>
          {target.name}
        </a>
      )}
    </li>
  );
}

/** What happens at the time `until`. */
const UNTIL: Readonly<Partial<Record<Statement['kind'], string>>> = {
  circuit_open: 'Next probe',
  rate_limited: 'Resets',
  approvals_waiting: 'The first expires',
};

const someOf = (names: readonly string[]): string =>
  names.length <= 4
    ? names.join(', ')
    : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;

const softTone = ({ kind }: Statement): string =>
  kind === 'unknown_operations' ? 'unknown' : 'warn';

/** Where the operator acts on it. */
function targetOf({
  kind,
  tools,
  operation_ids,
}: Statement): { name: string; href: string } | undefined {
  switch (kind) {
    case 'unknown_operations':
      return { name: 'Settle', href: '/operations?view=unknown' };
    case 'approvals_waiting':
      return { name: 'Decide', href: '/approvals' };
    case 'approvals_expired':
      return { name: 'Show', href: '/approvals?view=expired' };
    case 'approved_not_executed': {
      const [id] = operation_ids ?? [];
      return { name: 'Show', href: id === undefined ? '/approvals' : `/operations/${id}` };
    }
    case 'audit_invalid':
      return { name: 'Show', href: '/audit' };
    case 'circuit_open':
    case 'upstream_failing':
    case 'rate_limited':
    case 'retry_budget_empty':
    case 'tool_failing': {
      const [tool] = tools ?? [];
      const only =
        tools?.length === 1 && tool !== undefined ? `&tool=${encodeURIComponent(tool)}` : '';
      return { name: 'Show calls', href: `/calls?code=failed${only}` };
    }
    case 'process_lost':
    case 'journal_not_durable':
      return undefined;
  }
}
