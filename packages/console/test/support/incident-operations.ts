import { createHash } from 'node:crypto';
import type { ApprovalSummary, AuditRow, Operation } from '../../src/api/types.js';
import type { Clock } from './incident-tools.js';

export const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

const common = (id: string, tool: string) => ({
  id,
  tool,
  account: tool.startsWith('x_') ? 'x:1841 (@meridian_hq)' : 'github:meridian-bot',
  effect: 'once' as const,
  key: `content:${hash(id).slice(0, 24)}`,
  correlation_id: `corr-${id}`,
  steps: [],
});

export function unknownPosts(ago: Clock): Operation[] {
  return [
    [
      'op_01JC7Q8Z2M',
      'Maintenance is over: all regions are back to normal. Thank you for your patience.',
      318,
    ],
    ['op_01JC7Q9B4T', 'Version 4.2 is out: faster exports, and a dark theme at last.', 214],
  ].map(([id, text, seconds]) => ({
    ...common(String(id), 'x_post_tweet'),
    state: 'unknown' as const,
    outcome: 'unknown' as const,
    code: 'outcome_unknown',
    created_at: ago(Number(seconds)),
    sending_at: ago(Number(seconds) - 1),
    arguments: { text: String(text) },
    answer: { error: { code: 'outcome_unknown', details: { cause_code: 'x_network_error' } } },
    blocked: {
      reason: 'read_back_failed',
      explanation: 'The read-back failed. See the server log for the cause.',
      at: ago(60),
    },
  }));
}

interface ApprovalInput {
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly rule: string;
  readonly asked: number;
  readonly expires: number;
}

export const APPROVALS: readonly ApprovalInput[] = [
  {
    id: 'op_01JC7P3A11',
    tool: 'x_post_tweet',
    args: {
      text: 'We are looking into elevated error rates for exports since 14:05 UTC.\n\nUpdates: https://status.meridian.example',
    },
    rule: 'posts-need-a-person',
    asked: 1500,
    expires: 480,
  },
  {
    id: 'op_01JC7P3A12',
    tool: 'x_post_tweet',
    args: { text: 'Exports work again. We will publish a report on Friday.' },
    rule: 'posts-need-a-person',
    asked: 700,
    expires: 2900,
  },
  {
    id: 'op_01JC7P3A13',
    tool: 'github_create_issue',
    args: {
      owner: 'meridian',
      repo: 'exporter',
      title: 'Exports fail with 503 while the region fails over',
      body: 'Seen 64 times since 14:05 UTC.',
      labels: ['bug', 'incident'],
    },
    rule: 'issues-of-the-weekend',
    asked: 300,
    expires: 86_000,
  },
];

export function approvals(ago: Clock, ahead: Clock): Operation[] {
  const waiting = APPROVALS.map(({ id, tool, args, rule, asked, expires }): Operation => ({
    ...common(id, tool),
    state: 'awaiting_approval',
    created_at: ago(asked),
    arguments: args,
    approval: {
      rule,
      explanation: `The rule ${rule} requires approval for ${tool}.`,
      hash: hash(id),
      requested_at: ago(asked),
      expires_at: ahead(expires),
      edited: false,
      ...(tool.startsWith('x_') && { cost: { amount: 1, unit: 'post' } }),
    },
  }));
  const expired: Operation = {
    ...common('op_01JC7N0001', 'x_post_tweet'),
    state: 'expired',
    outcome: 'not_executed',
    code: 'approval_expired',
    created_at: ago(8600),
    settled_at: ago(5000),
    arguments: { text: 'Good morning from the exports team!' },
    approval: {
      rule: 'posts-need-a-person',
      explanation: 'The rule posts-need-a-person requires approval for x_post_tweet.',
      hash: hash('expired'),
      requested_at: ago(8600),
      expires_at: ago(5000),
      edited: false,
    },
  };
  return [...waiting, expired];
}

export function settled(ago: Clock): Operation[] {
  return Array.from({ length: 14 }, (_, at): Operation => {
    const tool = at % 3 === 0 ? 'github_create_issue' : 'x_post_tweet';
    const isRejected = at % 6 === 4;
    return {
      ...common(`op_01JC6${String(at).padStart(4, '0')}`, tool),
      state: isRejected ? 'rejected' : at === 2 ? 'reconciled' : 'succeeded',
      ...(isRejected && { code: 'upstream_rejected', outcome: 'not_executed' as const }),
      ...(at === 2 && { outcome: 'executed' as const }),
      created_at: ago(340 + at * 420),
      sending_at: ago(339 + at * 420),
      settled_at: ago(338 + at * 420),
      arguments:
        tool === 'x_post_tweet'
          ? { text: `Update ${at + 1} of the week` }
          : { title: `Issue ${at + 1}` },
      answer: isRejected
        ? { error: { code: 'upstream_rejected' } }
        : { data: { id: `${18_410 + at}` } },
    };
  });
}

/** As in lists: with the argument that decides. */
export function listed(operation: Operation): Operation {
  const { arguments: args = {} } = operation;
  const name = ['text', 'title'].find((one) => one in args);
  if (name === undefined) return operation;
  return { ...operation, decisive: { name, value: String(args[name]), cut: false } };
}

export function summaryOf(operation: Operation): ApprovalSummary {
  const { approval, arguments: args = {} } = operation;
  return {
    ...listed(operation),
    rule: approval?.rule ?? '',
    explanation: approval?.explanation ?? '',
    hash: approval?.hash ?? '',
    requested_at: approval?.requested_at ?? '',
    expires_at: approval?.expires_at ?? '',
    edited: approval?.edited ?? false,
    ...(approval?.cost && { cost: approval.cost }),
    ...(approval?.decision && { decision: approval.decision }),
    arguments: args,
  };
}

type Entry = Pick<AuditRow, 'at' | 'kind' | 'actor' | 'detail'>;

/** What the runtime writes about an operation. */
function entriesOf(operation: Operation): Entry[] {
  const { state, outcome, created_at, sending_at, settled_at, approval, tool } = operation;
  const entry = (
    at: string | undefined,
    kind: string,
    detail: Entry['detail'],
    actor = 'toolkeel',
  ): Entry[] => (at === undefined ? [] : [{ at, kind, actor, detail }]);
  if (approval) {
    return [
      ...entry(approval.requested_at, 'approval_requested', { rule: approval.rule }),
      ...entry(settled_at, 'approval_expired', { hash: approval.hash }),
    ];
  }
  const decision = { decision: 'approved', hash: hash(operation.id) };
  const result = { outcome: outcome ?? (state === 'succeeded' ? 'executed' : 'unknown') };
  return [
    ...(tool === 'github_create_issue'
      ? entry(created_at, 'approval_decided', decision, 'ana')
      : []),
    ...entry(sending_at, 'send', { effect: 'once' }),
    ...entry(settled_at ?? sending_at, 'settled', result),
  ];
}

/** Newest first. */
export function auditRows(operations: readonly Operation[]): AuditRow[] {
  const head = 1284;
  return operations
    .flatMap((operation) => entriesOf(operation).map((entry) => ({ operation, entry })))
    .toReversed()
    .toSorted((a, b) => b.entry.at.localeCompare(a.entry.at))
    .map(({ operation: { id, tool, account }, entry }, at): AuditRow => ({
      ...entry,
      seq: head - at,
      operation_id: id,
      tool,
      account,
      hash: hash(String(at)),
    }));
}
