import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Action, ActionName, OperationResponse } from '../../../api/types.js';
import { ActionDialog } from '../../actions/action-dialog.js';
import { LABELS } from '../../actions/labels.js';
import { api } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { connection, live } from '../../data/stream.js';
import { actorText, auditText } from '../../ui/audit-text.js';
import { Facts, Id, Note, Time } from '../../ui/basics.js';
import { CallTable } from '../../ui/call-table.js';
import { JsonTree } from '../../ui/json-tree.js';
import { PageHead, Result } from '../../ui/page.js';
import { OperationBadge } from '../../ui/states.js';
import { EvidenceList } from './evidence.js';

export function OperationPage({ id }: { readonly id: string }): JSX.Element {
  const { operationsVersion = 0, calls = [] } = live.value ?? {};
  // A call is recorded a moment after its operation has changed.
  const recorded = calls.filter(({ operation_id: of }) => of === id).length;
  const loaded = useLoad(() => api.operation(id), id, `${operationsVersion} ${recorded}`);
  return (
    <Result loaded={loaded} what="the operation">
      {(response) => <Opened key={id} response={response} />}
    </Result>
  );
}

const ORDER: readonly ActionName[] = [
  'check_upstream',
  'it_happened',
  'it_did_not_happen',
  'withdraw',
];

function Opened({ response }: { readonly response: OperationResponse }): JSX.Element {
  const { operation, evidence, actions } = response;
  const [action, setAction] = useState<Action | undefined>(undefined);
  const isOff = connection.value.state === 'lost';
  const shown = ORDER.filter((name) => actions.includes(name));
  return (
    <>
      <PageHead
        crumb={<a href="/operations">Operations</a>}
        title={operation.tool}
        badges={<OperationBadge operation={operation} />}
        tools={
          <>
            {shown.map((name, at) => (
              <button
                key={name}
                type="button"
                class={at === 0 ? 'button is-primary' : 'button'}
                disabled={isOff}
                onClick={() => setAction({ action: name, operation_id: operation.id })}
              >
                {LABELS[name].name}
              </button>
            ))}
            {operation.state === 'awaiting_approval' && (
              <a class="button" href={`/approvals/${operation.id}`}>
                Show the approval
              </a>
            )}
          </>
        }
      />
      {operation.state === 'unknown' && (
        <Note
          tone="unknown"
          title="It may have happened: it was sent, and no response proves the outcome"
        >
          Toolkeel does not send it again. Check the upstream, or look there and record what you
          found.
        </Note>
      )}
      {operation.damaged !== undefined && (
        <Note tone="danger" title="A part of the stored row cannot be read">
          {operation.damaged}
        </Note>
      )}
      <div class="columns">
        <div class="section">
          <section class="card">
            <div class="card-head">
              <h2>Evidence</h2>
            </div>
            <div class="card-body">
              <EvidenceList evidence={evidence} blocked={operation.blocked} />
            </div>
          </section>
          <section class="card">
            <div class="card-head">
              <h2>Arguments</h2>
            </div>
            <div class="card-body">
              {operation.arguments ? (
                <JsonTree value={operation.arguments} open={3} />
              ) : (
                <p class="muted">
                  They cannot be shown: this process does not have the tool or the key.
                </p>
              )}
            </div>
          </section>
          {operation.answer && (
            <section class="card">
              <div class="card-head">
                <h2>The answer that repeated calls receive</h2>
              </div>
              <div class="card-body">
                <JsonTree value={operation.answer} open={3} />
              </div>
            </section>
          )}
          {evidence.calls.length > 0 && (
            <section class="card">
              <div class="card-head">
                <h2>Calls</h2>
              </div>
              <CallTable calls={evidence.calls} />
            </section>
          )}
        </div>
        <div class="section">
          <OperationFacts response={response} />
          <AuditTrail response={response} />
        </div>
      </div>
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </>
  );
}

function OperationFacts({
  response: { operation, evidence },
}: {
  readonly response: OperationResponse;
}): JSX.Element {
  const { process } = evidence;
  return (
    <section class="card" aria-label="Facts">
      <div class="card-body">
        <Facts
          facts={[
            { name: 'Operation', value: <code class="wrap-anywhere">{operation.id}</code> },
            { name: 'Acts for', value: operation.account },
            {
              name: 'Effect',
              value:
                operation.effect === 'once' ? 'once: a repeat would act again' : operation.effect,
            },
            { name: 'Error code', value: operation.code && <code>{operation.code}</code> },
            { name: 'Created', value: <Time at={operation.created_at} zone /> },
            {
              name: 'Sent',
              value: operation.sending_at && <Time at={operation.sending_at} zone />,
            },
            {
              name: 'Settled',
              value: operation.settled_at && <Time at={operation.settled_at} zone />,
            },
            {
              name: 'Answer delivered',
              value: operation.delivered_at && <Time at={operation.delivered_at} zone />,
            },
            {
              name: 'Repeats join until',
              value: operation.held_until && <Time at={operation.held_until} zone />,
            },
            {
              name: 'Process',
              value: process && `${process.name}, pid ${process.pid}, ${process.state}`,
            },
            {
              name: 'Call of the agent',
              value: (
                <Id
                  id={operation.correlation_id}
                  href={`/calls/${encodeURIComponent(operation.correlation_id)}`}
                />
              ),
            },
            {
              name: 'Steps',
              value:
                operation.steps.length > 0 &&
                operation.steps.map(({ name, state }) => `${name}: ${state}`).join(', '),
            },
          ].map((fact) => (fact.value === false ? false : fact))}
        />
      </div>
    </section>
  );
}

function AuditTrail({
  response: { evidence },
}: {
  readonly response: OperationResponse;
}): JSX.Element | null {
  if (evidence.audit.length === 0) return null;
  return (
    <section class="card">
      <div class="card-head">
        <h2>Audit</h2>
      </div>
      <ol class="trail">
        {evidence.audit.map((row) => (
          <li key={row.seq}>
            <span class="wrap-anywhere">{auditText(row)}</span>
            <span class="small muted" title={row.actor}>
              <Time at={row.at} /> · {actorText(row.actor)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
