import type { JSX } from 'preact';
import type { NowResponse, Operation } from '../../../api/types.js';
import { api } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { clock } from '../../lib/clock.js';
import { formatCount } from '../../lib/format.js';
import { Badge, Time, type Tone } from '../../ui/basics.js';
import { Decisive } from '../../ui/decisive.js';
import { Result } from '../../ui/page.js';

type Outcome = 'made' | 'unknown' | 'waiting' | 'not_made' | 'running';

/** What became of a mutation, in plain words. */
export function outcomeOf({ state, outcome, approval }: Operation): Outcome {
  switch (state) {
    case 'succeeded':
      return 'made';
    case 'reconciled':
      return outcome === 'not_executed' ? 'not_made' : 'made';
    case 'unknown':
      return 'unknown';
    case 'awaiting_approval':
      return approval?.decision === 'approved' ? 'running' : 'waiting';
    case 'claimed':
    case 'sending':
      return 'running';
    case 'rejected':
    case 'denied':
    case 'expired':
    case 'released':
      return 'not_made';
  }
}

interface Shown {
  readonly tone: Tone;
  /** After a number. */
  readonly label: string;
  readonly word: string;
  readonly states: string;
}

const HISTORY = '/operations?view=all&since=1h&state=';
const OUTCOMES: Readonly<Record<Outcome, Shown>> = {
  made: { tone: 'ok', label: 'made', word: 'Made', states: `${HISTORY}succeeded,reconciled` },
  unknown: {
    tone: 'unknown',
    label: 'may have happened',
    word: 'May have happened',
    states: `${HISTORY}unknown`,
  },
  waiting: {
    tone: 'warn',
    label: 'need approval',
    word: 'Needs approval',
    states: `${HISTORY}awaiting_approval`,
  },
  running: {
    tone: 'info',
    label: 'in progress',
    word: 'In progress',
    states: `${HISTORY}claimed,sending,awaiting_approval`,
  },
  not_made: {
    tone: 'idle',
    label: 'not made',
    word: 'Not made',
    states: `${HISTORY}rejected,denied,expired,released,reconciled`,
  },
};

const COUNTED = 200;
const LISTED = 4;
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
        <a class="tools small" href="/operations?view=all">
          History
        </a>
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
  const shown = (['made', 'unknown', 'waiting', 'running', 'not_made'] as const)
    .map((name) => ({ name, count: found.filter((one) => one === name).length }))
    .filter(({ name, count }) => count > 0 || name === 'made');
  return (
    <>
      {shown.map(({ name, count }) => (
        <li key={name}>
          <a href={OUTCOMES[name].states}>
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

/** What waits for the operator, or expired without a decision, is listed beside it. */
function Newest({ operations }: { readonly operations: readonly Operation[] }): JSX.Element {
  const ended = operations.filter(
    (one) => one.state !== 'expired' && !['unknown', 'waiting'].includes(outcomeOf(one)),
  );
  if (ended.length === 0) return <p class="card-body muted">No change was made.</p>;
  return (
    <ol class="newest" aria-label="Newest mutations">
      {ended.slice(0, LISTED).map((operation) => {
        const { tone, word } = OUTCOMES[outcomeOf(operation)];
        return (
          <li key={operation.id}>
            <Badge tone={tone}>{word}</Badge>
            <a class="newest-text" href={`/operations/${operation.id}`}>
              <Decisive operation={operation} />
            </a>
            <span class="small muted newest-facts">
              {operation.tool} · <Time at={operation.settled_at ?? operation.created_at} />
            </span>
          </li>
        );
      })}
    </ol>
  );
}
