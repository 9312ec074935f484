import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Action, ActionName, ApprovalResponse } from '../../../api/types.js';
import { ActionDialog } from '../../actions/action-dialog.js';
import { LABELS } from '../../actions/labels.js';
import { api } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { connection, live } from '../../data/stream.js';
import { formatAmount } from '../../lib/format.js';
import { useKeys } from '../../lib/keys.js';
import { place, setQuery } from '../../lib/router.js';
import { Key } from '../../shell.js';
import { Facts, Id, Note, Time } from '../../ui/basics.js';
import { Diff } from '../../ui/diff.js';
import { JsonTree } from '../../ui/json-tree.js';
import { PageHead, Result } from '../../ui/page.js';
import { PostPreview } from '../../ui/post.js';
import { OperationBadge } from '../../ui/states.js';
import { Expiry } from './approval-item.js';
import { EditForm } from './edit-form.js';

export function Approval({ id }: { readonly id: string }): JSX.Element {
  const loaded = useLoad(() => api.approval(id), id, live.value?.operationsVersion ?? 0);
  return (
    <Result loaded={loaded} what="the approval">
      {(response) => <Opened key={id} response={response} />}
    </Result>
  );
}

function Opened({ response }: { readonly response: ApprovalResponse }): JSX.Element {
  const { approval, arguments: args, masked, unreadable, text, actions, next_step } = response;
  const [action, setAction] = useState<Action | undefined>(undefined);
  const isEditing = place.value.query.get('edit') === '1' && actions.includes('edit_and_approve');
  const isOff = connection.value.state === 'lost';
  const open = (name: ActionName): void => {
    if (actions.includes(name) && !isOff) setAction({ action: name, operation_id: approval.id });
  };
  const edit = (): void => {
    if (actions.includes('edit_and_approve')) setQuery({ edit: isEditing ? '' : '1' });
  };
  useKeys({ a: () => open('approve'), r: () => open('reject'), e: edit });
  const view = approval.approval;
  return (
    <>
      <PageHead
        crumb={<a href="/approvals">Approvals</a>}
        title={approval.tool}
        badges={<OperationBadge operation={approval} />}
        tools={
          <>
            {actions.includes('approve') && (
              <button
                type="button"
                class="button is-primary"
                disabled={isOff || isEditing}
                onClick={() => open('approve')}
              >
                Approve <Key name="a" />
              </button>
            )}
            {actions.includes('edit_and_approve') && (
              <button type="button" class="button" aria-pressed={isEditing} onClick={edit}>
                Edit <Key name="e" />
              </button>
            )}
            {(['reject', 'withdraw'] as const)
              .filter((name) => actions.includes(name))
              .map((name) => (
                <button
                  key={name}
                  type="button"
                  class="button is-danger"
                  disabled={isOff}
                  onClick={() => open(name)}
                >
                  {LABELS[name].name} {name === 'reject' && <Key name="r" />}
                </button>
              ))}
          </>
        }
        lead={view?.explanation}
      />
      {next_step !== undefined && (
        <Note tone="info" title="What to do next">
          {next_step}
        </Note>
      )}
      <div class="columns">
        <div class="section">
          {isEditing ? (
            <EditForm response={response} onAct={setAction} />
          ) : (
            <>
              {text && <PostPreview text={text} account={approval.account} />}
              <section class="card">
                <div class="card-head">
                  <h2>Exact arguments</h2>
                </div>
                <div class="card-body">
                  {unreadable !== undefined && <Note tone="danger">{unreadable}</Note>}
                  {args && <JsonTree value={args} open={3} />}
                  {masked.length > 0 && (
                    <p class="small muted">Masked, because sensitive: {masked.join(', ')}.</p>
                  )}
                </div>
              </section>
              {view?.requested_arguments && args && (
                <section class="card">
                  <div class="card-head">
                    <h2>Edited by {view.edited_by ?? 'an operator'}</h2>
                    {view.edited_at !== undefined && (
                      <span class="muted small">
                        <Time at={view.edited_at} zone />
                      </span>
                    )}
                  </div>
                  <div class="card-body">
                    <Diff before={view.requested_arguments} after={args} />
                  </div>
                </section>
              )}
            </>
          )}
        </div>
        <FactsOf response={response} />
      </div>
      {action && (
        <ActionDialog
          action={action}
          onClose={(isDone) => {
            setAction(undefined);
            if (isDone) setQuery({ edit: '' });
          }}
        />
      )}
    </>
  );
}

function FactsOf({ response: { approval } }: { readonly response: ApprovalResponse }): JSX.Element {
  const view = approval.approval;
  return (
    <section class="card" aria-label="Facts">
      <div class="card-body">
        <Facts
          facts={[
            { name: 'Rule that asked', value: view?.rule },
            { name: 'Acts for', value: approval.account },
            {
              name: 'Cost',
              value: view?.cost && formatAmount(view.cost),
            },
            { name: 'Asked', value: view && <Time at={view.requested_at} zone /> },
            {
              name: 'Expires',
              value: view && !view.decision && (
                <>
                  <Time at={view.expires_at} zone />
                  <br />
                  <Expiry approval={view} />
                </>
              ),
            },
            {
              name: 'Executed at the earliest',
              value: view?.scheduled_for && <Time at={view.scheduled_for} zone />,
            },
            { name: 'Meant as a duplicate', value: view?.duplicate && 'yes, by the caller' },
            {
              name: 'Decided',
              value: view?.decision && (
                <>
                  {view.decision} by {view.decided_by} <Time at={view.decided_at} zone />
                </>
              ),
            },
            { name: 'Reason', value: view?.reason },
            { name: 'Waits because', value: approval.blocked?.explanation },
            {
              name: 'Operation',
              value: <Id id={approval.id} href={`/operations/${approval.id}`} />,
            },
            {
              name: 'Call of the agent',
              value: (
                <Id
                  id={approval.correlation_id}
                  href={`/calls/${encodeURIComponent(approval.correlation_id)}`}
                />
              ),
            },
            { name: 'Hash', value: view && <code class="wrap-anywhere">{view.hash}</code> },
          ]}
        />
      </div>
    </section>
  );
}
