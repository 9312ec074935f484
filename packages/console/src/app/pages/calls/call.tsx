import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { CallResponse, StoredEnvelope } from '../../../api/types.js';
import { api } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { live } from '../../data/stream.js';
import { clock } from '../../lib/clock.js';
import { attemptsText, endOf, formatDuration, formatMoment, toMs } from '../../lib/format.js';
import { Copy, Facts, Id, Note, Time } from '../../ui/basics.js';
import { CallTable } from '../../ui/call-table.js';
import { JsonTree } from '../../ui/json-tree.js';
import { PageHead, Result } from '../../ui/page.js';
import { processLabel } from '../../ui/process-label.js';
import { CodeBadge, InFlightBadge, OperationBadge } from '../../ui/states.js';
import { TimelineView } from './timeline-view.js';

export function Call({ id }: { readonly id: string }): JSX.Element {
  // A call in flight is loaded again each second, and once more when it has ended.
  const isInFlight = live.value?.inFlight.some(({ correlation_id }) => correlation_id === id);
  const loaded = useLoad(() => api.call(id), id, isInFlight ? clock.value : 0);
  const { reload } = loaded;
  useEffect(() => {
    if (loaded.value?.in_flight && !isInFlight) reload();
  }, [isInFlight]);
  return (
    <Result loaded={loaded} what="the call">
      {(response) => <Opened response={response} />}
    </Result>
  );
}

function Opened({ response }: { readonly response: CallResponse }): JSX.Element {
  const { call, in_flight: inFlight, timeline, envelope, operation, related } = response;
  const tool = call?.tool ?? inFlight?.tool ?? 'Call';
  return (
    <>
      <PageHead
        crumb={<a href="/calls">Calls</a>}
        title={tool}
        badges={
          <>
            {call && <CodeBadge code={call.code} outcome={call.outcome} />}
            {inFlight && <InFlightBadge call={inFlight} />}
          </>
        }
        tools={<Copy text={location.href} label="Copy the link" />}
        lead={<Sentence response={response} />}
      />
      {operation?.state === 'unknown' && (
        <Note tone="unknown" title="Its outcome is unknown">
          <a href={`/operations/${operation.id}`}>Settle the operation</a>
        </Note>
      )}
      <section class="card" aria-labelledby="timeline">
        <div class="card-head">
          <h2 id="timeline">Timeline</h2>
        </div>
        <div class="card-body">
          <TimelineView timeline={timeline} />
        </div>
      </section>
      <div class="columns">
        <section class="card">
          <div class="card-head">
            <h2>What the agent saw</h2>
          </div>
          <div class="card-body">
            {envelope ? (
              <Envelope envelope={envelope} />
            ) : (
              <p class="muted">
                {inFlight ? 'Nothing yet: the call is in flight.' : 'It is not stored.'}
              </p>
            )}
          </div>
        </section>
        <CallFacts response={response} />
      </div>
      {related.length > 0 && (
        <section class="card">
          <div class="card-head">
            <h2>Related calls</h2>
            <span class="muted small">Replays, and the execution after an approval</span>
          </div>
          <CallTable calls={related} />
        </section>
      )}
    </>
  );
}

function Sentence({
  response: { call, in_flight },
}: {
  readonly response: CallResponse;
}): JSX.Element {
  if (call) {
    const { elapsed_ms, waited_ms } = call;
    return (
      <>
        Ended {formatMoment(endOf(call))} after {formatDuration(elapsed_ms)}
        {waited_ms > 0 && `, of which it waited ${formatDuration(waited_ms)}`}, with{' '}
        {attemptsText(call)}.
      </>
    );
  }
  if (!in_flight) return <>Not known.</>;
  const left = toMs(in_flight.deadline_at) - clock.value;
  return (
    <>
      In flight since <Time at={in_flight.at} zone />. It ends at the latest{' '}
      {left > 0 ? `in ${formatDuration(Math.ceil(left / 1000) * 1000)}` : 'now'}.
    </>
  );
}

function Envelope({ envelope }: { readonly envelope: StoredEnvelope }): JSX.Element {
  const { omitted, ...shown } = envelope;
  return (
    <>
      <JsonTree value={shown} open={3} />
      {omitted.length > 0 && (
        <ul class="small muted">
          {omitted.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function CallFacts({
  response: { call, in_flight: inFlight, operation },
}: {
  readonly response: CallResponse;
}): JSX.Element {
  const known = call ?? inFlight;
  return (
    <section class="card" aria-label="Facts">
      <div class="card-body">
        <Facts
          facts={[
            {
              name: 'Correlation id',
              value: known && <code class="wrap-anywhere">{known.correlation_id}</code>,
            },
            { name: 'Acts for', value: operation?.account ?? known?.account },
            { name: 'Process', value: known && processLabel(known) },
            { name: 'Outcome', value: call?.outcome?.replaceAll('_', ' ') },
            {
              name: 'Operation',
              value: operation && (
                <>
                  <Id id={operation.id} href={`/operations/${operation.id}`} />{' '}
                  <OperationBadge operation={operation} />
                </>
              ),
            },
          ]}
        />
      </div>
    </section>
  );
}
