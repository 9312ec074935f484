import { createHash } from 'node:crypto';
import type {
  ApprovalSummary,
  AuditRow,
  AuditStatus,
  CallSummary,
  InFlightCall,
  NowResponse,
  Operation,
  ProcessState,
  SeriesResponse,
  UpstreamState,
} from '../../src/api/types.js';

/** A prepared incident: an outage of X, two posts with an unknown outcome, three approvals, one expired. */
export interface Incident {
  readonly now: NowResponse;
  readonly processes: readonly ProcessState[];
  readonly inFlight: readonly InFlightCall[];
  readonly calls: readonly CallSummary[];
  readonly operations: readonly Operation[];
  readonly series: SeriesResponse;
  readonly audit: AuditStatus;
  readonly rows: readonly AuditRow[];
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

const TOOLS = [
  ['search_items', 'read'],
  ['get_item', 'read'],
  ['x_post_tweet', 'once'],
  ['x_search_tweets', 'read'],
  ['x_delete_tweet', 'once'],
  ['github_create_issue', 'once'],
  ['github_list_issues', 'read'],
] as const;

export function incident(base: number): Incident {
  const ago = (seconds: number): string => new Date(base - seconds * 1000).toISOString();
  const ahead = (seconds: number): string => ago(-seconds);
  const operations = [...unknownPosts(ago), ...approvals(ago, ahead), ...settled(ago)];
  return {
    now: now(ago, ahead),
    processes: processes(ago, ahead),
    inFlight: inFlight(ago, ahead),
    calls: calls(base, 240),
    operations,
    series: series(base),
    audit: {
      head: { seq: 1284, hash: hash('head') },
      verified: { seq: 1284, hash: hash('head'), at: ago(4) },
      state: 'valid',
      problem_count: 0,
      problems: [],
      anchor:
        'The chain proves that entries were not changed in place. Anyone who can write the database could rewrite all of it; a head that you store elsewhere (toolkeel audit head) reveals that.',
    },
    rows: auditRows(ago, operations),
  };
}

type Clock = (seconds: number) => string;

function now(ago: Clock, ahead: Clock): NowResponse {
  return {
    at: ago(0),
    status: 'broken',
    oldest_report_ms: 1400,
    counts: {
      processes_live: 3,
      processes_lost: 0,
      in_flight: 3,
      retrying: 1,
      unknown: 2,
      approvals: 3,
      approvals_expired: 1,
      calls_last_hour: 1846,
      failed_last_hour: 87,
      reads_last_hour: 1815,
      reads_failed_last_hour: 69,
    },
    statements: [
      {
        severity: 'broken',
        kind: 'circuit_open',
        text: 'x (api.x.com) fails with a server error (503).',
        detail: 'The circuit is open in 2 processes. No request is sent before the next probe.',
        what_to_do: 'Check the upstream. Sending resumes by itself when a test request succeeds.',
        since: ago(312),
        until: ahead(21),
        affected_calls: 64,
        tools: ['x_post_tweet', 'x_search_tweets'],
        upstream: 'api.x.com',
        pack: 'x',
      },
      {
        severity: 'attention',
        kind: 'unknown_operations',
        text: '2 operations have an unknown outcome: the upstream may or may not have acted.',
        what_to_do: 'Check the upstream, then settle each one.',
        affected_calls: 2,
        since: ago(318),
        tools: ['x_post_tweet'],
      },
      {
        severity: 'attention',
        kind: 'approvals_waiting',
        text: '3 approvals wait for a decision.',
        since: ago(1500),
        until: ahead(540),
      },
      {
        severity: 'attention',
        kind: 'approvals_expired',
        text: '1 approval expired without a decision in the last 24 hours.',
        what_to_do: 'Nothing was sent. The agent has to request it again.',
      },
    ],
  };
}

const upstream = (name: string, more: Partial<UpstreamState>): UpstreamState => ({
  name,
  health: 'ok',
  attempts: 412,
  failures: 3,
  circuit: { state: 'closed', changes: [] },
  retry_budget: { tokens: 9.4, capacity: 10 },
  rate_limits: [],
  ...more,
});

const packOf = (name: string, prefix: RegExp, upstreams: UpstreamState[]) => ({
  name,
  tools: TOOLS.filter(([tool]) => prefix.test(tool)).map(([tool, effect]) => ({
    name: tool,
    effect,
  })),
  upstreams,
});

function processes(ago: Clock, ahead: Clock): ProcessState[] {
  const common = {
    version: '0.1.0',
    machine: 'ops-1',
    state: 'live' as const,
    in_flight: 1,
    age_ms: 1200,
    reported_at: ago(1),
  };
  const x = upstream('api.x.com', {
    health: 'failing',
    attempts: 38,
    failures: 38,
    failing_since: ago(330),
    last_failure: { at: ago(312), fault: 'server', status: 503 },
    circuit: {
      state: 'open',
      since: ago(312),
      probe_at: ahead(21),
      changes: [{ at: ago(312), state: 'open' }],
    },
    retry_budget: { tokens: 1.2, capacity: 10 },
    rate_limits: [
      { route: 'POST /2/tweets', name: '24h', limit: 100, remaining: 7, resets_at: ahead(29_400) },
    ],
  });
  const github = upstream('api.github.com', {
    health: 'degraded',
    attempts: 96,
    failures: 14,
    last_failure: { at: ago(40), fault: 'timeout' },
    retry_budget: { tokens: 6.1, capacity: 10 },
    rate_limits: [{ name: 'core', limit: 5000, remaining: 3120, resets_at: ahead(1290) }],
  });
  return [
    {
      ...common,
      id: 'p1',
      name: 'toolkeel',
      kind: 'host',
      transport: 'http',
      url: 'http://127.0.0.1:7411',
      profile: 'workflow',
      pid: 41_077,
      started_at: ago(86_000),
      here: true,
      packs: [
        packOf('stac', /items?$/, [upstream('earth-search.aws', {})]),
        packOf('x', /^x_/, [x]),
        packOf('github', /^github/, [github]),
      ],
    },
    {
      ...common,
      id: 'p2',
      name: 'toolkeel',
      kind: 'host',
      transport: 'stdio',
      profile: 'readonly',
      pid: 41_310,
      started_at: ago(4_200),
      here: false,
      packs: [
        packOf('stac', /items?$/, [
          upstream('planetary-computer', { health: 'idle', attempts: 0, failures: 0 }),
        ]),
      ],
    },
    {
      ...common,
      id: 'p3',
      name: 'filesystem',
      kind: 'guard',
      transport: 'stdio',
      profile: 'api',
      pid: 41_388,
      started_at: ago(900),
      here: false,
      packs: [
        {
          name: 'filesystem',
          tools: [{ name: 'write_file', effect: 'once' }],
          upstreams: [upstream('filesystem', { attempts: 20, failures: 0 })],
        },
      ],
    },
  ];
}

function inFlight(ago: Clock, ahead: Clock): InFlightCall[] {
  return [
    {
      correlation_id: 'c-in-flight-1',
      tool: 'github_list_issues',
      process_id: 'p1',
      process_name: 'toolkeel',
      at: ago(5),
      deadline_at: ahead(50),
      attempts: 2,
      at_upstream: 0,
      state: 'waiting',
      wait: { reason: 'backoff', since: ago(1), until: ahead(3), next_attempt: 3 },
      last_fault: { kind: 'timeout', sent: 'maybe', clock: 'attempt' },
    },
    {
      correlation_id: 'c-in-flight-2',
      tool: 'search_items',
      process_id: 'p2',
      process_name: 'toolkeel',
      at: ago(1),
      deadline_at: ahead(14),
      attempts: 2,
      at_upstream: 2,
      state: 'running',
    },
    {
      correlation_id: 'c-in-flight-3',
      tool: 'write_file',
      process_id: 'p3',
      process_name: 'filesystem',
      at: ago(2),
      deadline_at: ahead(280),
      attempts: 2,
      at_upstream: 1,
      state: 'retrying',
      last_fault: { kind: 'network', sent: 'no' },
    },
  ];
}

/** Ended calls, newest first; the same for the same arguments. */
export function calls(base: number, count: number, from = 1): CallSummary[] {
  return Array.from({ length: count }, (_, index) => {
    const at = count - index;
    const seq = from + at - 1;
    const [tool] = TOOLS[(seq * 3 + (seq % 5)) % TOOLS.length] ?? ['search_items'];
    const isX = tool.startsWith('x_');
    const isRecent = index < 60;
    const fails = (isX && isRecent && seq % 2 === 0) || seq % 23 === 0;
    const code = !fails ? 'ok' : isX ? 'circuit_open' : seq % 2 === 0 ? 'timeout' : 'not_found';
    const attempts = code === 'circuit_open' ? 0 : seq % 9 === 0 ? 3 : seq % 5 === 0 ? 2 : 1;
    const process = seq % 4 === 0 ? ['p2', 'toolkeel'] : ['p1', 'toolkeel'];
    return {
      seq,
      correlation_id: `01JC${(seq * 7919).toString(36).padStart(6, '0').toUpperCase()}K3M9`,
      tool,
      code,
      at: new Date(base - index * 1900 - (seq % 7) * 130).toISOString(),
      elapsed_ms: code === 'circuit_open' ? 2 : 40 + ((seq * 37) % 460) * attempts,
      attempts,
      waited_ms: attempts > 1 ? 320 * (attempts - 1) : 0,
      process_id: process[0] ?? '',
      process_name: process[1] ?? '',
      ...(fails && isX && { outcome: 'not_executed' as const }),
    };
  });
}

const common = (id: string, tool: string) => ({
  id,
  tool,
  account: tool.startsWith('x_') ? 'x:1841 (@meridian_hq)' : 'github:meridian-bot',
  effect: 'once' as const,
  key: `content:${hash(id).slice(0, 24)}`,
  correlation_id: `corr-${id}`,
  steps: [],
});

function unknownPosts(ago: Clock): Operation[] {
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

function approvals(ago: Clock, ahead: Clock): Operation[] {
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

function settled(ago: Clock): Operation[] {
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

function series(base: number): SeriesResponse {
  const minutes = Array.from({ length: 60 }, (_, at) =>
    new Date(Math.floor(base / 60_000) * 60_000 - (59 - at) * 60_000).toISOString(),
  );
  const of = (scale: number, slow: number, fails: boolean) => {
    const wave = (at: number): number => 1 + 0.35 * Math.sin(at / 5) + 0.15 * Math.sin(at * 1.7);
    const failing = (at: number): boolean => fails && at > 53;
    const each = minutes.map((_, at) => at);
    return {
      calls: each.map((at) => Math.round(scale * wave(at))),
      success_ratio: each.map((at) => (failing(at) ? 0.08 : at % 17 === 3 ? 0.94 : 1)),
      p50_ms: each.map((at) => Math.round(slow * wave(at + 3))),
      p95_ms: each.map((at) => Math.round(slow * 2.6 * wave(at + 1) * (failing(at) ? 1.8 : 1))),
    };
  };
  const row = (
    tool: string,
    calls: number,
    ratio: number,
    p50: number,
    codes: [string, number][],
    fails = false,
  ) => ({
    tool,
    ...of(calls / 60, p50, fails),
    total: {
      calls,
      success_ratio: ratio,
      p50_ms: p50,
      p95_ms: p50 * 2.7,
      codes: codes.map(([code, count]) => ({ code, calls: count })),
    },
  });
  const { tool: _tool, ...all } = row(
    'all',
    1846,
    0.953,
    148,
    [
      ['circuit_open', 64],
      ['timeout', 16],
    ],
    true,
  );
  return {
    minutes,
    all,
    tools: [
      row('search_items', 1102, 0.998, 182, [['timeout', 2]]),
      row('github_list_issues', 391, 0.964, 240, [['timeout', 14]]),
      row('x_search_tweets', 204, 0.74, 95, [['circuit_open', 53]], true),
      row('get_item', 118, 1, 64, []),
      row(
        'x_post_tweet',
        31,
        0.58,
        310,
        [
          ['circuit_open', 11],
          ['outcome_unknown', 2],
        ],
        true,
      ),
    ],
  };
}

function auditRows(ago: Clock, operations: readonly Operation[]): AuditRow[] {
  return operations.slice(0, 12).map((operation, at): AuditRow => ({
    seq: 1284 - at,
    at: ago(200 + at * 140),
    kind:
      ['operation_unknown', 'approval_requested', 'operation_settled', 'approval_decided'][
        at % 4
      ] ?? '',
    operation_id: operation.id,
    tool: operation.tool,
    account: operation.account,
    actor: at % 4 === 3 ? 'ana' : 'toolkeel',
    detail:
      at % 4 === 3
        ? { decision: 'approved', hash: hash('d').slice(0, 16) }
        : { state: operation.state },
    hash: hash(String(at)),
  }));
}
