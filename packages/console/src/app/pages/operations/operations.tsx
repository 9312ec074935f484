import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Operation, OperationSummary } from '../../../api/types.js';
import { api, withParameters } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { live } from '../../data/stream.js';
import { words } from '../../lib/format.js';
import { place, setQuery } from '../../lib/router.js';
import { Age, Empty, Id, Time } from '../../ui/basics.js';
import { Decisive } from '../../ui/decisive.js';
import { Icon } from '../../ui/icons.js';
import { PageHead, Result } from '../../ui/page.js';
import { OperationBadge } from '../../ui/states.js';
import { responseText } from './evidence-text.js';
import { isOutcome, OUTCOMES, outcomeOf } from './outcomes.js';

const STATES = [
  'claimed',
  'sending',
  'succeeded',
  'rejected',
  'reconciled',
  'awaiting_approval',
  'denied',
  'expired',
  'released',
] as const;
const AGES = [
  ['1h', 'the last hour'],
  ['24h', 'the last 24 hours'],
  ['7d', 'the last 7 days'],
  ['', 'all times'],
] as const;

export function Operations(): JSX.Element {
  const { query } = place.value;
  const unknown = live.value?.unknown ?? [];
  const view = query.get('view') ?? (unknown.length > 0 ? 'unknown' : 'all');
  return (
    <>
      <PageHead title="Operations" lead="Every change that agents asked for, and its outcome." />
      <nav class="tabs" aria-label="Operations">
        <a href="/operations?view=unknown" aria-current={view === 'unknown' ? 'true' : undefined}>
          To settle
          <span class={unknown.length > 0 ? 'count is-unknown' : 'count'}>{unknown.length}</span>
        </a>
        <a href="/operations?view=all" aria-current={view === 'unknown' ? undefined : 'true'}>
          History
        </a>
      </nav>
      {view === 'unknown' ? <Unknown operations={unknown} /> : <History />}
    </>
  );
}

/** Operations that may or may not have been executed: the worklist of a person. */
function Unknown({
  operations,
}: {
  readonly operations: readonly OperationSummary[];
}): JSX.Element {
  const loaded = useLoad(
    () => api.operations({ state: 'unknown', limit: 200 }),
    'unknown',
    live.value?.operationsVersion ?? 0,
  );
  if (operations.length === 0) {
    return (
      <Empty title="Nothing to settle">
        <p>
          The outcome of every operation is known. One appears here if the connection broke after a
          request was sent and reading back could not tell what happened.
        </p>
      </Empty>
    );
  }
  const known = new Map(loaded.value?.operations.map((each) => [each.id, each]));
  return (
    <>
      <p class="muted">
        Sent, and no response proves the outcome. Toolkeel never sends these again by itself. Oldest
        first.
      </p>
      <div class="card table-wrap">
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col">Acts for</th>
              <th scope="col">Sent</th>
              <th scope="col">Last response</th>
              <th scope="col">
                <span class="visually-hidden">Action</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {operations.map((operation) => (
              <tr key={operation.id}>
                <th scope="row" class="cell-name">
                  <a href={`/operations/${operation.id}`}>{operation.tool}</a>
                  <div class="small decisive-line">
                    <Decisive operation={operation} />
                  </div>
                  <div class="small muted">
                    <Id id={operation.id} />
                  </div>
                </th>
                <td data-label="Acts for" class="wrap-anywhere">
                  {operation.account}
                </td>
                <td data-label="Sent">
                  <Age at={operation.sending_at ?? operation.created_at} />
                  <div class="small muted">
                    <Time at={operation.sending_at ?? operation.created_at} zone />
                  </div>
                </td>
                <td data-label="Last response">
                  {responseText(known.get(operation.id)?.answer?.error)}
                </td>
                <td class="num">
                  <a class="button is-small" href={`/operations/${operation.id}`}>
                    Settle
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const PAGE_SIZE = 100;

function History(): JSX.Element {
  const { query } = place.value;
  const [limit, setLimit] = useState(PAGE_SIZE);
  const filter = {
    state: query.get('state') ?? '',
    tool: query.get('tool') ?? '',
    account: query.get('account') ?? '',
    since: query.get('since') ?? '7d',
    id: query.get('id') ?? '',
  };
  const since = filter.since === 'all' ? '' : filter.since;
  const outcome = isOutcome(filter.state) ? filter.state : undefined;
  const states = outcome === undefined ? filter.state : OUTCOMES[outcome].states.join(',');
  const parameters = { ...filter, state: states, since, limit };
  const loaded = useLoad(
    () => api.operations(parameters),
    JSON.stringify(parameters),
    live.value?.operationsVersion ?? 0,
  );
  const { state, tool } = filter;
  const link = (format: string): string =>
    withParameters('/api/operations/export', { format, since, state: states, tool });
  return (
    <>
      <div class="filters" role="search" aria-label="Filter operations">
        <select
          class="input"
          aria-label="State"
          value={state}
          onChange={({ currentTarget }) => setQuery({ view: 'all', state: currentTarget.value })}
        >
          <option value="">All states</option>
          {Object.entries(OUTCOMES).map(([name, { word }]) => (
            <option key={name} value={name}>
              {word}
            </option>
          ))}
          <optgroup label="State">
            {STATES.map((name) => (
              <option key={name} value={name}>
                {words(name)}
              </option>
            ))}
          </optgroup>
        </select>
        <select
          class="input"
          aria-label="Time range"
          value={since}
          onChange={({ currentTarget }) =>
            setQuery({ view: 'all', since: currentTarget.value || 'all' })
          }
        >
          {AGES.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <TextFilter name="tool" label="Tool" value={tool} />
        <TextFilter name="account" label="Account" value={filter.account} />
        <TextFilter name="id" label="Id begins with" value={filter.id} />
        <span class="actions export">
          <a class="button is-small" href={link('jsonl')} download data-external="true">
            <Icon name="download" /> JSONL
          </a>
          <a class="button is-small" href={link('csv')} download data-external="true">
            <Icon name="download" /> CSV
          </a>
        </span>
      </div>
      <section class="card">
        <Result loaded={loaded} what="operations">
          {({ operations: found, next }) => {
            const operations = found.filter(
              (one) => outcome === undefined || outcomeOf(one) === outcome,
            );
            return operations.length === 0 && next === undefined ? (
              <Empty title="No operation matches">
                <p>
                  Widen the time range or clear the filters. Reads are not operations: they are
                  under <a href="/calls">Calls</a>.
                </p>
              </Empty>
            ) : (
              <>
                <List operations={operations} />
                {next !== undefined && (
                  <div class="card-body">
                    <button
                      type="button"
                      class="button"
                      onClick={() => setLimit(limit + PAGE_SIZE)}
                    >
                      Show more
                    </button>
                  </div>
                )}
              </>
            );
          }}
        </Result>
      </section>
    </>
  );
}

interface TextFilterProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
}

function TextFilter({ name, label, value }: TextFilterProps): JSX.Element {
  return (
    <input
      class="input"
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={({ currentTarget }) =>
        setQuery({ view: 'all', [name]: currentTarget.value.trim() })
      }
    />
  );
}

function List({ operations }: { readonly operations: readonly Operation[] }): JSX.Element {
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Operations">
      <table class="stacks">
        <thead>
          <tr>
            <th scope="col">Operation</th>
            <th scope="col">State</th>
            <th scope="col">Acts for</th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody>
          {operations.map((operation) => (
            <tr key={operation.id}>
              <th scope="row" class="cell-name">
                <a href={`/operations/${operation.id}`}>{operation.tool}</a>
                <div class="small decisive-line">
                  <Decisive operation={operation} />
                </div>
                <div class="small muted">
                  <Id id={operation.id} />
                </div>
              </th>
              <td data-label="State">
                <OperationBadge operation={operation} />
                {operation.code !== undefined && operation.code !== 'ok' && (
                  <div class="small muted mono">{operation.code}</div>
                )}
              </td>
              <td data-label="Acts for" class="wrap-anywhere">
                {operation.account}
              </td>
              <td data-label="Created">
                <Time at={operation.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
