import type { JSX } from 'preact';
import type {
  ApprovalSummary,
  InFlightCall,
  Operation,
  OperationState,
  OperationSummary,
  Outcome,
} from '../../api/types.js';
import { clock } from '../lib/clock.js';
import { formatSpan, toMs } from '../lib/format.js';
import { Badge, type Tone } from './basics.js';
import type { IconName } from './icons.js';

const OPERATION: Readonly<Record<OperationState, readonly [Tone, string, IconName?]>> = {
  claimed: ['info', 'Claimed'],
  sending: ['info', 'Sending'],
  succeeded: ['ok', 'Done'],
  rejected: ['danger', 'Rejected by the upstream'],
  unknown: ['unknown', 'May have happened'],
  reconciled: ['ok', 'Reconciled'],
  awaiting_approval: ['warn', 'Needs approval', 'wait'],
  denied: ['danger', 'Denied'],
  expired: ['idle', 'Expired'],
  released: ['idle', 'Released: not executed'],
};

type Shown = OperationSummary & {
  readonly approval?: Operation['approval'];
  readonly decision?: ApprovalSummary['decision'];
};

/** The state of an operation in words; an approved one that waits is not "awaiting approval". */
export function OperationBadge({ operation }: { readonly operation: Shown }): JSX.Element {
  const decision = operation.approval?.decision ?? operation.decision;
  if (operation.state === 'awaiting_approval' && decision === 'approved') {
    return (
      <Badge tone="info" icon="wait">
        Approved, not executed yet
      </Badge>
    );
  }
  if (operation.state === 'reconciled' && operation.outcome === 'not_executed') {
    return <Badge tone="idle">Reconciled: not executed</Badge>;
  }
  const [tone, text, icon] = OPERATION[operation.state];
  return (
    <Badge tone={tone} {...(icon && { icon })}>
      {text}
    </Badge>
  );
}

interface CodeProps {
  readonly code: string;
  readonly outcome?: Outcome | undefined;
}

/** `ok` or the error code, and what is known of a failed mutation. */
export function CodeBadge({ code, outcome }: CodeProps): JSX.Element {
  if (code === 'ok') return <Badge tone="ok">ok</Badge>;
  if (outcome === 'unknown') return <Badge tone="unknown">{code}</Badge>;
  const isWaiting = code === 'approval_required';
  return (
    <Badge tone={isWaiting ? 'warn' : 'danger'} {...(isWaiting && { icon: 'wait' as const })}>
      {code}
    </Badge>
  );
}

const WAITS: Readonly<Record<NonNullable<InFlightCall['wait']>['reason'], string>> = {
  backoff: 'Waits to retry',
  rate_limit: 'Waits for the rate limit',
  circuit: 'Waits for the circuit',
  queue: 'Waits in a queue',
  budget: 'Retry refused by the budget',
  approval: 'Waits for approval',
};

/** A call that waits between attempts, or makes a later one, is never shown as running. */
export function inFlightText(call: InFlightCall, now: number): string {
  const { state, wait, attempts, at_upstream: requests, lost } = call;
  if (lost) return 'Not known: its process is lost';
  if (state === 'waiting' && wait) {
    const left = wait.until === undefined ? NaN : toMs(wait.until) - now;
    const end = left > 0 ? `, ${formatSpan(left)} left` : '';
    return `${WAITS[wait.reason]}${end}`;
  }
  const text = state === 'retrying' ? `Retrying: attempt ${attempts}` : 'Running';
  return requests > 1 ? `${text}, ${requests} requests at once` : text;
}

export function InFlightBadge({ call }: { readonly call: InFlightCall }): JSX.Element {
  const text = inFlightText(call, clock.value);
  if (call.lost) return <Badge tone="unknown">{text}</Badge>;
  if (call.state === 'waiting') {
    return (
      <Badge tone="warn" icon="wait">
        {text}
      </Badge>
    );
  }
  return (
    <Badge tone={call.state === 'retrying' ? 'warn' : 'info'} icon="play">
      {text}
    </Badge>
  );
}
