import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Action, ActionName, ApprovalSummary, OperationSummary } from '../../../api/types.js';
import { ActionDialog } from '../../actions/action-dialog.js';
import { SETTLING } from '../../actions/labels.js';
import { api } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { connection } from '../../data/stream.js';
import { Age, Badge, type Tone } from '../../ui/basics.js';
import { Decisive } from '../../ui/decisive.js';
import type { IconName } from '../../ui/icons.js';
import { Expiry } from '../approvals/approval-item.js';

interface WaitingProps {
  readonly unknown: readonly OperationSummary[];
  readonly approvals: readonly ApprovalSummary[];
  /** Approvals that expired in the last 24 hours. */
  readonly expired: number;
  readonly version: number;
}

/** Of each kind; the pages show all. */
const SHOWN = 8;

interface Opened {
  readonly action: Action;
  readonly choices?: readonly ActionName[];
}

/** What only a person can decide, in the order in which to do it. */
export function Waiting({ unknown, approvals, expired, version }: WaitingProps): JSX.Element {
  const [opened, setOpened] = useState<Opened | undefined>(undefined);
  const isOff = connection.value.state === 'lost';
  const count = unknown.length + approvals.length;
  const open = (action: ActionName, id: string, choices?: readonly ActionName[]): void =>
    setOpened({ action: { action, operation_id: id }, ...(choices && { choices }) });
  return (
    <section class="card" aria-labelledby="waiting">
      <div class="card-head">
        <h2 id="waiting">Waits for you</h2>
        {count > 1 && <span class="muted small">Most urgent first</span>}
      </div>
      {count + expired === 0 && <p class="card-body muted">Nothing.</p>}
      <ol class="worklist">
        {unknown.slice(0, SHOWN).map((operation) => (
          <Item
            key={operation.id}
            operation={operation}
            href={`/operations/${operation.id}`}
            badge={['unknown', 'May have happened']}
            facts={
              <>
                Sent <Age at={operation.sending_at ?? operation.created_at} />
              </>
            }
          >
            <button
              type="button"
              class="button is-primary"
              disabled={isOff}
              onClick={() => open('check_upstream', operation.id, SETTLING)}
            >
              Settle
            </button>
          </Item>
        ))}
        <More count={unknown.length} href="/operations?view=unknown" />
        {approvals.slice(0, SHOWN).map((approval) => (
          <Item
            key={approval.id}
            operation={approval}
            href={`/approvals/${approval.id}`}
            badge={['warn', 'Needs approval', 'wait']}
            facts={<Expiry approval={approval} among={approvals} />}
          >
            <button
              type="button"
              class="button is-primary"
              disabled={isOff}
              onClick={() => open('approve', approval.id)}
            >
              Approve
            </button>
            <button
              type="button"
              class="button is-danger"
              disabled={isOff}
              onClick={() => open('reject', approval.id)}
            >
              Reject
            </button>
          </Item>
        ))}
        <More count={approvals.length} href="/approvals" />
        {expired > 0 && <Expired version={version} />}
      </ol>
      {opened && <ActionDialog {...opened} onClose={() => setOpened(undefined)} />}
    </section>
  );
}

interface ItemProps {
  readonly operation: OperationSummary;
  readonly href: string;
  readonly badge: readonly [Tone, string, IconName?];
  readonly facts: ComponentChildren;
  readonly children?: ComponentChildren;
}

function Item({ operation, href, badge, facts, children }: ItemProps): JSX.Element {
  const [tone, word, icon] = badge;
  return (
    <li>
      <div class="worklist-main">
        <p class="worklist-facts small muted">
          <Badge tone={tone} {...(icon && { icon })}>
            {word}
          </Badge>
          <span>
            {facts} · {operation.tool}
          </span>
        </p>
        <a class="worklist-text" href={href}>
          <Decisive operation={operation} />
        </a>
      </div>
      {children !== undefined && <div class="worklist-actions">{children}</div>}
    </li>
  );
}

function More({ count, href }: { readonly count: number; readonly href: string }) {
  if (count <= SHOWN) return null;
  return (
    <li>
      <a href={href}>{count - SHOWN} more</a>
    </li>
  );
}

/** Nothing can be decided any more, and the page says what to do instead. */
function Expired({ version }: { readonly version: number }): JSX.Element {
  const { value } = useLoad(api.approvals, 'expired', version);
  const items = value?.expired ?? [];
  return (
    <>
      {items.slice(0, SHOWN).map((approval) => (
        <Item
          key={approval.id}
          operation={approval}
          href={`/approvals/${approval.id}`}
          badge={['idle', 'Not done: expired']}
          facts="If still wanted, ask the agent again"
        />
      ))}
      <More count={items.length} href="/approvals?view=expired" />
    </>
  );
}
