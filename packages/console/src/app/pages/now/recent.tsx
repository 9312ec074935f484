import type { JSX } from 'preact';
import type { NowResponse, Operation } from '../../../api/types.js';
import { api } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { clock } from '../../lib/clock.js';
import { formatCount, formatTime } from '../../lib/format.js';
import { Badge } from '../../ui/basics.js';
import { Decisive, isWritten } from '../../ui/decisive.js';
import { Result } from '../../ui/page.js';
import { OUTCOMES, outcomeOf, type Outcome } from '../operations/outcomes.js';

const COUNTED = 200;
const SHOWN = 4;
/** Of each other outcome; the history has all. */
const LISTED = 20;
const REFRESH_MS = 30_000;

interface RecentProps {
  readonly now: NowResponse;
  readonly version: number;
}

/** What the agent did: mutations of the last hour by outcome, and the newest of them. */
export function Recent({ now: { counts }, version }: RecentProps): JSX.Element {
  // An hour passes also without changes.
  const turn = Math.floor(clock.value / REFRESH_MS);
  const loaded = useLoad(
    () => api.operations({ since: '1h', limit: COUNTED }),
    'recent',
    `${version} ${turn}`,
  );
  const { reads_last_hour: reads, reads_failed_last_hour: failed } = counts;
  return (
    <section class="card" aria-labelledby="recent">
      <div class="card-head">
        <h2 id="recent">What the agent did</h2>
        <span class="muted small">Last hour</span>
      </div>
      <Result loaded={loaded} what="the last hour">
        {({ operations, next }) => (
          <>
            <ul class="tally" aria-label="Mutations by outcome">
              <Tally operations={operations} isCut={next !== undefined} />
              <li>
                <a href={failed > 0 ? '/calls?code=failed' : '/calls'}>
                  <b>{formatCount(reads)}</b> {reads === 1 ? 'read' : 'reads'}
                  {failed > 0 && <span class="tone-danger">, {formatCount(failed)} failed</span>}
                </a>
              </li>
            </ul>
            <Newest operations={operations} />
            <p class="newest-more small">
              <a href="/operations?view=all">History</a>
            </p>
          </>
        )}
      </Result>
    </section>
  );
}

interface TallyProps {
  readonly operations: readonly Operation[];
  readonly isCut: boolean;
}

function Tally({ operations, isCut }: TallyProps): JSX.Element {
  const found = operations.map(outcomeOf);
  const shown = (['done', 'unknown', 'waiting', 'running', 'not_done'] as const)
    .map((name) => ({ name, count: found.filter((one) => one === name).length }))
    .filter(({ name, count }) => count > 0 || name === 'done');
  return (
    <>
      {shown.map(({ name, count }) => (
        <li key={name}>
          <a href={`/operations?view=all&since=1h&state=${name}`}>
            <b class={`tone-${OUTCOMES[name].tone}`}>
              {count}
              {isCut && '+'}
            </b>{' '}
            {OUTCOMES[name].label}
          </a>
        </li>
      ))}
    </>
  );
}

const URGENCY: readonly Outcome[] = ['not_done', 'running'];

/** What did not simply succeed, except what the list of decisions shows with its text; then the newest done: a line each. */
function Newest({ operations }: { readonly operations: readonly Operation[] }): JSX.Element {
  const urgent = URGENCY.flatMap((name) =>
    operations.filter((one) => outcomeOf(one) === name && one.state !== 'expired').slice(0, LISTED),
  );
  const done = operations.filter((one) => outcomeOf(one) === 'done');
  const listed = [...urgent, ...done.slice(0, Math.max(1, SHOWN - urgent.length))];
  if (operations.length === 0) return <p class="card-body muted">No change yet.</p>;
  return (
    <ol class="newest" aria-label="Newest mutations">
      {listed.map((operation) => {
        const { tool, settled_at, created_at } = operation;
        const { tone, word } = OUTCOMES[outcomeOf(operation)];
        return (
          <li key={operation.id}>
            <Badge tone={tone}>{word}</Badge>
            <a
              class="newest-text truncate"
              href={`/operations/${operation.id}`}
              title={`${tool}, ${formatTime(settled_at ?? created_at)}`}
            >
              {operation.decisive && !isWritten(operation) && `${tool} `}
              <Decisive operation={operation} />
            </a>
          </li>
        );
      })}
    </ol>
  );
}
