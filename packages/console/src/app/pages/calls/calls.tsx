import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { live } from '../../data/stream.js';
import { formatCount } from '../../lib/format.js';
import { useKeys } from '../../lib/keys.js';
import { place, setQuery } from '../../lib/router.js';
import { Key } from '../../shell.js';
import { Age, Empty, Loading, Note } from '../../ui/basics.js';
import { Icon } from '../../ui/icons.js';
import { PageHead } from '../../ui/page.js';
import { processLabel } from '../../ui/process-label.js';
import { InFlightBadge } from '../../ui/states.js';
import { CallRows } from './call-rows.js';
import { filterFrom, isFiltered, type CallFilter } from './filter.js';
import { useCalls, type CallList } from './use-calls.js';

export function Calls(): JSX.Element {
  const filter = filterFrom(place.value.query);
  const list = useCalls(filter);
  const search = useRef<HTMLInputElement>(null);
  useKeys({ f: list.toggleFreeze, '/': () => search.current?.focus() });
  return (
    <>
      <PageHead
        title="Calls"
        lead="Every tool call of every process, newest first."
        tools={
          <button
            type="button"
            class="button freeze"
            aria-pressed={list.isFrozen}
            onClick={list.toggleFreeze}
          >
            <Icon name={list.isFrozen ? 'play' : 'pause'} />
            {list.isFrozen ? `Continue (${formatCount(list.missed)} new)` : 'Freeze'}
            <Key name="f" />
          </button>
        }
      />
      <Filters filter={filter} search={search} />
      <InFlight list={list} />
      <Ended list={list} filter={filter} />
    </>
  );
}

interface FiltersProps {
  readonly filter: CallFilter;
  readonly search: { current: HTMLInputElement | null };
}

const CODES = [
  ['', 'Every code'],
  ['ok', 'ok'],
  ['failed', 'Every failure'],
] as const;
const OUTCOMES = [
  ['', 'Every outcome'],
  ['executed', 'Done'],
  ['not_executed', 'Not done'],
  ['unknown', 'May have happened'],
] as const;

function Filters({ filter, search }: FiltersProps): JSX.Element {
  const state = live.value;
  const names = new Set([
    ...(state?.processes ?? []).flatMap(({ packs }) =>
      packs.flatMap(({ tools }) => tools.map(({ name }) => name)),
    ),
    ...(state?.calls ?? []).map(({ tool }) => tool),
  ]);
  if (filter.tool !== '') names.add(filter.tool);
  const seen = [...new Set((state?.calls ?? []).map(({ code }) => code))].filter(
    (code) => code !== 'ok',
  );
  const codes = [...CODES, ...seen.toSorted().map((code) => [code, code] as const)];
  if (!codes.some(([code]) => code === filter.code)) codes.push([filter.code, filter.code]);
  const tools = [
    ['', 'Every tool'] as const,
    ...[...names].toSorted().map((name) => [name, name] as const),
  ];
  const processes = [
    ['', 'Every process'] as const,
    ...(state?.processes ?? []).map(({ id }) => [id, processLabel({ process_id: id })] as const),
  ];
  return (
    <div class="filters" role="search" aria-label="Filter calls">
      <input
        ref={search}
        class="input is-search"
        type="search"
        aria-label="Search"
        placeholder="Tool, code, account or id"
        value={filter.q}
        onInput={({ currentTarget }) => setQuery({ q: currentTarget.value.trim() })}
      />
      <Choice name="tool" label="Tool" value={filter.tool} options={tools} />
      <Choice name="code" label="Code" value={filter.code} options={codes} />
      <Choice name="outcome" label="Outcome" value={filter.outcome} options={OUTCOMES} />
      <Choice name="process" label="Process" value={filter.process} options={processes} />
      <label class="check">
        <input
          type="checkbox"
          checked={filter.min_attempts !== ''}
          onChange={({ currentTarget }) =>
            setQuery({ min_attempts: currentTarget.checked ? '2' : '' })
          }
        />
        Retried
      </label>
      {isFiltered(filter) && (
        <a class="button is-quiet is-small" href="/calls">
          Clear
        </a>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
}

function Choice({ name, label, value, options }: ChoiceProps): JSX.Element {
  return (
    <select
      class="input"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}
    >
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

const SHOWN_IN_FLIGHT = 20;

function InFlight({ list: { inFlight } }: { readonly list: CallList }): JSX.Element | null {
  if (inFlight.length === 0) return null;
  const shown = inFlight.slice(0, SHOWN_IN_FLIGHT);
  return (
    <section class="card" aria-labelledby="in-flight">
      <div class="card-head">
        <h2 id="in-flight">In flight</h2>
        <span class="count">{inFlight.length}</span>
      </div>
      <ul class="in-flight">
        {shown.map((call) => (
          <li key={`${call.process_id} ${call.correlation_id}`}>
            <a href={`/calls/${encodeURIComponent(call.correlation_id)}`}>{call.tool}</a>
            <InFlightBadge call={call} />
            <span class="small muted">
              {call.attempts} {call.attempts === 1 ? 'attempt' : 'attempts'} · began{' '}
              <Age at={call.at} /> · {processLabel(call)}
            </span>
          </li>
        ))}
        {inFlight.length > shown.length && (
          <li class="muted">and {inFlight.length - shown.length} more</li>
        )}
      </ul>
    </section>
  );
}

interface EndedProps {
  readonly list: CallList;
  readonly filter: CallFilter;
}

function Ended({ list, filter }: EndedProps): JSX.Element {
  const { rows, failure } = list;
  return (
    <section class="card" aria-labelledby="ended">
      <div class="card-head">
        <h2 id="ended">Ended</h2>
        {rows && (
          <span class="muted small">
            {formatCount(rows.length)}
            {list.hasMore && '+'} calls
          </span>
        )}
      </div>
      {failure && (
        <div class="card-body">
          <Note tone="danger" role="alert" title="Could not load the calls">
            {failure.message} {failure.whatToDo}
          </Note>
        </div>
      )}
      {!rows && !failure && <Loading what="calls" />}
      {rows?.length === 0 && (
        <Empty title={isFiltered(filter) ? 'No call matches' : 'No calls yet'}>
          {isFiltered(filter) ? (
            <p>
              <a href="/calls">Clear the filters</a>, or wait: calls that match appear as they end.
            </p>
          ) : (
            <p>
              Connect an agent to a server that shares this journal, or try a read tool on the{' '}
              <a href="/tools">Tools</a> page.
            </p>
          )}
        </Empty>
      )}
      {rows && rows.length > 0 && <CallRows rows={rows} onEnd={list.loadMore} />}
    </section>
  );
}
