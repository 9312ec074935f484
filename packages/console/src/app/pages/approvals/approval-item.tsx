import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ApprovalSummary } from '../../../api/types.js';
import { clock } from '../../lib/clock.js';
import { formatSpan, formatAmount, toMs } from '../../lib/format.js';
import { Age, Badge, Time } from '../../ui/basics.js';
import { Decisive } from '../../ui/decisive.js';
import { OperationBadge } from '../../ui/states.js';

interface ApprovalItemProps {
  readonly approval: ApprovalSummary;
  readonly isFocused?: boolean;
  readonly isSelected?: boolean;
  readonly isOff?: boolean;
  readonly onSelect?: () => void;
  readonly onFocus?: () => void;
  readonly onApprove?: () => void;
  readonly onReject?: () => void;
}

/** One approval in the list: the argument that decides, the rule that asked, and how long there is. */
export function ApprovalItem(props: ApprovalItemProps): JSX.Element {
  const { approval, isFocused = false, isSelected = false, isOff = false } = props;
  const { onSelect, onFocus, onApprove, onReject } = props;
  const { id, tool, account, rule, decisive, cost, edited, state, decision } = approval;
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isFocused) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isFocused]);
  const isOpen = state === 'awaiting_approval' && decision === undefined;
  return (
    <li ref={element} class={isFocused ? 'approval is-focused' : 'approval'} onFocusIn={onFocus}>
      {onSelect && (
        <label class="approval-check">
          <input type="checkbox" checked={isSelected} onChange={onSelect} />
          <span class="visually-hidden">Select {tool}</span>
        </label>
      )}
      <div class="approval-main">
        <div class="approval-line">
          <a class="approval-tool" href={`/approvals/${id}`}>
            {tool}
          </a>
          <span class="muted small truncate">{account}</span>
          {edited && <Badge tone="info">Edited</Badge>}
          {!isOpen && <OperationBadge operation={approval} />}
        </div>
        {decisive ? (
          <p class="decisive">
            <span class="decisive-value">
              <Decisive operation={approval} />
            </span>
          </p>
        ) : (
          <p class="muted">Open it to see its arguments.</p>
        )}
        <p class="small muted approval-facts">
          <span>
            Rule <strong class="wrap-anywhere">{rule}</strong>
          </span>
          {cost && <span>Costs {formatAmount(cost)}</span>}
          <span>
            Asked <Age at={approval.requested_at} />
          </span>
          <Expiry approval={approval} />
        </p>
      </div>
      {onApprove && onReject && (
        <div class="approval-actions">
          <button type="button" class="button is-primary" disabled={isOff} onClick={onApprove}>
            Approve
          </button>
          <a class="button" href={`/approvals/${id}?edit=1`}>
            Edit
          </a>
          <button type="button" class="button is-danger" disabled={isOff} onClick={onReject}>
            Reject
          </button>
        </div>
      )}
    </li>
  );
}

const MINUTE_MS = 60_000;
const SOON_MS = 10 * MINUTE_MS;

export function Expiry({
  approval: { expires_at },
  among = [],
}: {
  readonly approval: Pick<ApprovalSummary, 'expires_at'>;
  /** Listed with it: the time tells apart those that expire in the same hour, but not in the same minute. */
  readonly among?: readonly Pick<ApprovalSummary, 'expires_at'>[];
}): JSX.Element {
  const left = toMs(expires_at) - clock.value;
  if (left <= 0) return <span>Expired {formatSpan(-left)} ago</span>;
  const text = formatSpan(left);
  const isShared = among.some((one) => {
    const other = toMs(one.expires_at) - clock.value;
    return Math.abs(other - left) >= MINUTE_MS && formatSpan(other) === text;
  });
  return (
    <span class={left < SOON_MS ? 'tone-danger' : undefined}>
      Expires in {text}
      {isShared && (
        <>
          {' '}
          (<Time at={expires_at} />)
        </>
      )}
    </span>
  );
}
