import type { JSX } from 'preact';
import type { NowResponse, Statement } from '../../../api/types.js';
import { connection, live } from '../../data/stream.js';
import { clock } from '../../lib/clock.js';
import { formatSpan, plural, toMs } from '../../lib/format.js';
import { Empty } from '../../ui/basics.js';
import { Icon } from '../../ui/icons.js';
import { Problems } from './problems.js';
import { Processes } from './processes.js';
import { Recent } from './recent.js';
import { ToolHealth } from './tool-health.js';
import { Upstreams } from './upstreams.js';
import { Waiting } from './waiting.js';

/** To be scanned: the verdict, what is broken, what waits for the operator, what the agent did; details below. */
export function Now(): JSX.Element {
  const state = live.value;
  if (!state) {
    return (
      <Empty title="The state is not known">
        <p>The server could not be reached, so nothing can be said about your tools.</p>
      </Empty>
    );
  }
  const { now, unknown, approvals, processes, calls } = state;
  return (
    <>
      <Verdict now={now} decisions={unknown.length + approvals.length} />
      <Problems statements={now.statements} />
      <div class="now-columns">
        <Waiting
          unknown={unknown}
          approvals={approvals}
          expired={now.counts.approvals_expired}
          version={state.operationsVersion}
        />
        <Recent now={now} version={state.operationsVersion} />
      </div>
      <ToolHealth lastCall={calls[0]?.seq ?? 0} />
      <Upstreams processes={processes} statements={now.statements} />
      <Processes processes={processes} />
    </>
  );
}

interface VerdictProps {
  readonly now: NowResponse;
  readonly decisions: number;
}

function Verdict({ now, decisions }: VerdictProps): JSX.Element {
  const isLost = connection.value.state === 'lost';
  const tone = isLost
    ? 'danger'
    : ({ ok: 'ok', attention: 'warn', broken: 'danger' } as const)[now.status];
  return (
    <section class={`verdict is-${tone}`} aria-labelledby="verdict">
      <span class="verdict-icon">
        <Icon name={isLost ? 'unknown' : tone} />
      </span>
      <div>
        <h1 id="verdict" class="wrap-anywhere">
          {isLost ? 'The present state is not known' : headline(now, decisions)}
        </h1>
        <p class="muted">
          {isLost ? (
            `When it was last known, ${plural(decisions, 'decision')} waited for you.`
          ) : (
            <>
              {decisions === 0
                ? 'Nothing waits for you.'
                : `${plural(decisions, 'decision waits', 'decisions wait')} for you.`}{' '}
              <DataAge now={now} />
            </>
          )}
        </p>
      </div>
    </section>
  );
}

const NAMED = 3;

/** Is anything broken now? */
function headline({ status, statements }: NowResponse, decisions: number): string {
  if (status === 'ok') return 'Everything works';
  if (status === 'attention') {
    return decisions > 0 ? 'Nothing is broken' : 'Nothing is broken, but look at this';
  }
  const broken = statements.filter(({ severity }) => severity === 'broken');
  const names = [...new Set(broken.flatMap(({ pack, upstream }) => pack ?? upstream ?? []))];
  const has = (kind: Statement['kind']): boolean => broken.some((one) => one.kind === kind);
  const parts = [
    ...(names.length > NAMED ? [`${names.length} upstreams are failing`] : []),
    ...(names.length > 0 && names.length <= NAMED
      ? [`${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} failing`]
      : []),
    ...(has('process_lost') ? ['a process stopped reporting'] : []),
    ...(has('audit_invalid') ? ['the audit chain is not intact'] : []),
  ];
  return `Broken: ${parts.join('; ')}`;
}

function DataAge({ now }: { readonly now: NowResponse }): JSX.Element {
  if (now.counts.processes_live === 0) return <>No process is live.</>;
  if (now.oldest_report_ms === undefined) return <>No process has reported yet.</>;
  const seconds = Math.ceil((clock.value - toMs(now.at) + now.oldest_report_ms) / 1000);
  return <>Data at most {formatSpan(seconds * 1000)} old.</>;
}
