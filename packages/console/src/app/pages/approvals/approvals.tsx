import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Action, ApprovalSummary } from '../../../api/types.js';
import { ActionDialog } from '../../actions/action-dialog.js';
import { BatchDialog } from '../../actions/batch-dialog.js';
import { api } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { connection, live } from '../../data/stream.js';
import { useKeys } from '../../lib/keys.js';
import { navigate, place } from '../../lib/router.js';
import { Key } from '../../shell.js';
import { Empty } from '../../ui/basics.js';
import { PageHead, Result } from '../../ui/page.js';
import { ApprovalItem } from './approval-item.js';
import { batchGroup } from './batch.js';

type View = 'waiting' | 'approved' | 'expired';

const viewOf = (text: string | null): View =>
  text === 'approved' || text === 'expired' ? text : 'waiting';

export function Approvals(): JSX.Element {
  const view = viewOf(place.value.query.get('view'));
  const loaded = useLoad(api.approvals, 'approvals', live.value?.operationsVersion ?? 0);
  const waiting = live.value?.approvals ?? [];
  const approved = (loaded.value?.approvals ?? []).filter(
    ({ decision }) => decision === 'approved',
  );
  const expired = loaded.value?.expired ?? [];
  return (
    <>
      <PageHead
        title="Approvals"
        lead="Nothing is sent before you approve it. Soonest deadline first."
      />
      <nav class="tabs" aria-label="Approvals by state">
        <Tab view="waiting" current={view} name="Waiting" count={waiting.length} />
        <Tab view="approved" current={view} name="Approved" count={approved.length} />
        <Tab view="expired" current={view} name="Expired" count={expired.length} />
      </nav>
      {view === 'waiting' && <Waiting approvals={waiting} />}
      {view !== 'waiting' && (
        <Result loaded={loaded} what="approvals">
          {() =>
            view === 'approved' ? <Approved items={approved} /> : <Expired items={expired} />
          }
        </Result>
      )}
    </>
  );
}

interface TabProps {
  readonly view: View;
  readonly current: View;
  readonly name: string;
  readonly count: number;
}

function Tab({ view, current, name, count }: TabProps): JSX.Element {
  return (
    <a
      href={view === 'waiting' ? '/approvals' : `/approvals?view=${view}`}
      aria-current={view === current ? 'true' : undefined}
    >
      {name} <span class="count">{count}</span>
    </a>
  );
}

function Waiting({ approvals }: { readonly approvals: readonly ApprovalSummary[] }): JSX.Element {
  const [focused, setFocused] = useState(0);
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [action, setAction] = useState<Action | undefined>(undefined);
  const [batch, setBatch] = useState<readonly ApprovalSummary[] | undefined>(undefined);
  const at = Math.min(focused, approvals.length - 1);
  const current = approvals[at];
  const group = batchGroup(approvals, selected);
  const isOff = connection.value.state === 'lost';

  const toggle = (id: string): void =>
    setSelected(selected.includes(id) ? selected.filter((one) => one !== id) : [...selected, id]);
  const open = (name: 'approve' | 'reject', id = current?.id): void => {
    if (id !== undefined && !isOff) setAction({ action: name, operation_id: id });
  };
  useKeys({
    j: () => setFocused(Math.min(at + 1, approvals.length - 1)),
    k: () => setFocused(Math.max(at - 1, 0)),
    x: () => current && toggle(current.id),
    a: () => open('approve'),
    r: () => open('reject'),
    e: () => current && navigate(`/approvals/${current.id}?edit=1`),
    Enter: () => current && navigate(`/approvals/${current.id}`),
  });

  return (
    <>
      {group.items.length > 0 && (
        <div class="batch-bar" role="region" aria-label="Batch">
          <span>
            <strong>{group.items.length} selected</strong>
            {group.refusal !== undefined && <span class="tone-danger"> {group.refusal}</span>}
          </span>
          <button type="button" class="button is-small" onClick={() => setSelected([])}>
            Clear
          </button>
          <button
            type="button"
            class="button is-small is-primary"
            disabled={group.refusal !== undefined || isOff}
            onClick={() => setBatch(group.items)}
          >
            Compare and approve
          </button>
        </div>
      )}
      {approvals.length === 0 ? (
        <Empty title="Nothing waits for you">
          <p>
            Calls appear here when a rule requires approval. The <a href="/policy">Policy</a> page
            shows which ones do; decided calls are under <a href="/operations">Operations</a>.
          </p>
        </Empty>
      ) : (
        <>
          <ul class="approvals" aria-label="Waiting approvals">
            {approvals.map((approval, index) => (
              <ApprovalItem
                key={approval.id}
                approval={approval}
                isFocused={index === at}
                isSelected={selected.includes(approval.id)}
                isOff={isOff}
                onSelect={() => toggle(approval.id)}
                onFocus={() => setFocused(index)}
                onApprove={() => open('approve', approval.id)}
                onReject={() => open('reject', approval.id)}
              />
            ))}
          </ul>
          <p class="muted small keys-hint">
            <Key name="j" /> <Key name="k" /> <Key name="Enter" /> <Key name="a" /> <Key name="e" />{' '}
            <Key name="r" /> <Key name="x" /> <a href="/settings">Keyboard shortcuts</a>
          </p>
        </>
      )}
      {/* Shows the result after the last approval has left the list. */}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
      {batch && (
        <BatchDialog
          approvals={batch}
          onClose={() => {
            setBatch(undefined);
            setSelected([]);
          }}
        />
      )}
    </>
  );
}

function Approved({ items }: { readonly items: readonly ApprovalSummary[] }): JSX.Element {
  if (items.length === 0) {
    return (
      <Empty title="Nothing approved is waiting">
        <p>
          An approved call is executed at once. It waits here while its upstream fails, or until its
          scheduled time.
        </p>
      </Empty>
    );
  }
  return <PlainList items={items} />;
}

function Expired({ items }: { readonly items: readonly ApprovalSummary[] }): JSX.Element {
  if (items.length === 0) {
    return (
      <Empty title="Nothing expired in the last 24 hours">
        <p>An approval without a decision expires, and is never executed.</p>
      </Empty>
    );
  }
  return (
    <>
      <p class="muted">
        No operator decided these in time. They were not executed and never will be: if one is still
        wanted, let the agent call the tool again, and a new approval appears.
      </p>
      <PlainList items={items} />
    </>
  );
}

function PlainList({ items }: { readonly items: readonly ApprovalSummary[] }): JSX.Element {
  return (
    <ul class="approvals">
      {items.map((approval) => (
        <ApprovalItem key={approval.id} approval={approval} />
      ))}
    </ul>
  );
}
