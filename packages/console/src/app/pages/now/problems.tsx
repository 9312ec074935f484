import type { JSX } from 'preact';
import type { Statement } from '../../../api/types.js';
import { clock } from '../../lib/clock.js';
import { formatSpan, formatTime, plural, toMs } from '../../lib/format.js';
import { Time } from '../../ui/basics.js';

/** The list below says these one by one. */
const LISTED: readonly Statement['kind'][] = [
  'unknown_operations',
  'approvals_waiting',
  'approvals_expired',
];

/** One line for each problem: what, since when, which calls. */
export function Problems({
  statements,
}: {
  readonly statements: readonly Statement[];
}): JSX.Element | null {
  const shown = statements.filter(({ kind }) => !LISTED.includes(kind));
  if (shown.length === 0) return null;
  return (
    <ul class="statements" aria-label="What is broken">
      {shown.map((statement) => (
        <Problem key={keyOf(statement)} {...statement} />
      ))}
    </ul>
  );
}

/** An outage stays the same while its circuit opens and is tested. */
const keyOf = ({ upstream, pack, kind, text }: Statement): string =>
  upstream === undefined ? `${kind} ${text}` : `${pack} ${upstream}`;

function Problem(statement: Statement): JSX.Element {
  const { severity, kind, text, detail, what_to_do: advice, since, until } = statement;
  const { affected_calls: affected = 0, tools = [], last_success_at: success } = statement;
  const { unknown_calls: maybe = 0 } = statement;
  const of = tools.length > 0 ? `: ${someOf(tools)}` : '';
  const target = targetOf(statement);
  // Before the failures, it adds nothing to when they began.
  const isFromSuccess = success !== undefined && success === since;
  const isSameSecond = formatTime(success) === formatTime(since);
  const lastSuccess = success !== undefined && !isSameSecond && (
    <span>
      Last success <Time at={success} />
    </span>
  );
  const isOver = until !== undefined && toMs(until) <= clock.value;
  return (
    <li class={severity === 'broken' ? 'note is-danger' : 'note is-warn'}>
      <div>
        <strong class="wrap-anywhere">{text}</strong>
        <details class="fold small">
          <summary class="statement-facts muted">
            {since === undefined && affected === 0 && until === undefined && <span>Details</span>}
            {since !== undefined && (
              <span>
                {isFromSuccess ? 'Since the last success,' : 'Since'} <Time at={since} /> (
                {formatSpan(clock.value - toMs(since))})
              </span>
            )}
            {affected > 0 && (
              <span>
                {[
                  ...(affected > maybe ? [`${plural(affected - maybe, 'call')} failed`] : []),
                  ...(maybe > 0 ? [`${plural(maybe, 'call')} may have happened`] : []),
                ].join(', ')}
                {of}
              </span>
            )}
            {until !== undefined && !isOver && (
              <span>
                <Until kind={kind} at={until} />
              </span>
            )}
          </summary>
          <p class="wrap-anywhere">
            {detail} {advice} {lastSuccess}
          </p>
        </details>
      </div>
      {target !== undefined && (
        <a class="button is-small" href={target}>
          {target.startsWith('/calls') ? 'Show calls' : 'Show'}
        </a>
      )}
    </li>
  );
}

/** What happens at the time `until`. A test is a call, so it may come much later. */
function Until({ kind, at }: { readonly kind: Statement['kind']; readonly at: string }) {
  const time = <Time at={at} />;
  if (kind === 'circuit_open') return <>Next call after {time} is a test</>;
  return (
    <>
      {kind === 'rate_limited' ? 'Resets at' : 'Until'} {time}
    </>
  );
}

const someOf = (names: readonly string[]): string =>
  names.length <= 4
    ? names.join(', ')
    : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;

/** Where the operator sees more of it. */
function targetOf({ kind, tools, operation_ids: ids }: Statement): string | undefined {
  switch (kind) {
    case 'audit_invalid':
      return '/audit';
    case 'approved_not_executed':
      return ids?.[0] === undefined ? '/approvals?view=approved' : `/operations/${ids[0]}`;
    case 'circuit_open':
    case 'upstream_failing':
    case 'rate_limited':
    case 'retry_budget_empty':
    case 'tool_failing': {
      const [tool] = tools ?? [];
      const only =
        tools?.length === 1 && tool !== undefined ? `&tool=${encodeURIComponent(tool)}` : '';
      return `/calls?code=failed${only}`;
    }
    case 'unknown_operations':
    case 'approvals_waiting':
    case 'approvals_expired':
    case 'process_lost':
    case 'journal_not_durable':
      return undefined;
  }
}
