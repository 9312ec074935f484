import type {
  Action,
  AuditRow,
  CallResponse,
  CallSummary,
  ExplainResponse,
  InFlightCall,
  Operation,
  OperationResponse,
  PolicyResponse,
  ReplayResponse,
  Timeline,
  ToolInfo,
  ToolsResponse,
} from '../../src/api/types.js';

/** Answers of the imitated API that do not depend on its state. */

export const session = (base: number) => ({
  name: 'ana',
  by: 'link',
  expires_at: new Date(base + 8 * 3_600_000).toISOString(),
  version: '0.1.0',
  process_id: 'p1',
  cautions: [],
});

const timeline = (starts: number): Timeline => ({
  starts_at: new Date(starts).toISOString(),
  length_ms: 4180,
  recorded: true,
  items: [
    {
      kind: 'wait',
      reason: 'queue',
      from_ms: 0,
      to_ms: 90,
      text: 'Waited for one of 10 connections.',
    },
    {
      kind: 'attempt',
      attempt: 1,
      from_ms: 90,
      to_ms: 1320,
      upstream: 'api.github.com',
      fault: { kind: 'server', sent: 'answered', status: 503 },
    },
    {
      kind: 'wait',
      reason: 'backoff',
      from_ms: 1320,
      to_ms: 2010,
      planned_to_ms: 2010,
      text: 'Backoff after a server error (503).',
    },
    {
      kind: 'attempt',
      attempt: 2,
      from_ms: 2010,
      to_ms: 2230,
      upstream: 'api.github.com',
      fault: { kind: 'rate_limited', sent: 'answered', status: 429 },
    },
    {
      kind: 'wait',
      reason: 'rate_limit',
      from_ms: 2230,
      to_ms: 3400,
      planned_to_ms: 3800,
      text: 'Until the rate limit resets.',
    },
    { kind: 'attempt', attempt: 3, from_ms: 3400, to_ms: 4170, upstream: 'api.github.com' },
  ],
  circuits: [
    {
      upstream: 'api.github.com',
      spans: [
        { from_ms: 0, to_ms: 1320, state: 'half_open' },
        { from_ms: 1320, to_ms: 4180, state: 'closed' },
      ],
    },
  ],
});

export function callResponse(
  base: number,
  calls: readonly CallSummary[],
  inFlight: readonly InFlightCall[],
  id: string,
): CallResponse {
  const flying = inFlight.find(({ correlation_id }) => correlation_id === id);
  const call = calls.find(({ seq }) => String(seq) === id) ?? calls[0];
  if (flying || !call) {
    return {
      ...(flying && { in_flight: flying }),
      timeline: { ...timeline(base - 4000), items: timeline(base).items.slice(0, 4) },
      related: [],
    };
  }
  const shown = {
    ...call,
    tool: 'github_list_issues',
    attempts: 3,
    elapsed_ms: 4180,
    waited_ms: 1950,
  };
  return {
    call: shown,
    timeline: timeline(Date.parse(call.at)),
    envelope: {
      success: call.code === 'ok',
      data: { items: [{ number: 41, title: 'Exports fail' }] },
      meta: {
        tool_version: '1.0',
        elapsed_ms: 4180,
        retry_count: 2,
        correlation_id: call.correlation_id,
      },
      omitted: [],
    },
    related: calls.slice(3, 5),
  };
}

export function evidenceOf(
  operation: Operation,
  calls: readonly CallSummary[],
  audit: readonly AuditRow[],
): OperationResponse {
  const isUnknown = operation.state === 'unknown';
  return {
    operation,
    evidence: {
      sent: {
        state: isUnknown ? 'maybe' : 'answered',
        at: operation.sending_at ?? operation.created_at,
        text: isUnknown
          ? 'The request was written, and the connection broke before a response.'
          : 'The upstream responded.',
      },
      key: { by: 'content', value: operation.key },
      ...(isUnknown && {
        last_response: {
          code: 'outcome_unknown',
          text: 'The connection was reset after the request had been sent.',
          details: { cause_code: 'x_network_error' },
        },
        read_back: {
          reason: 'read_back_failed',
          text: 'The read-back failed: the circuit of api.x.com is open.',
          at: new Date(Date.parse(operation.created_at) + 60_000).toISOString(),
        },
      }),
      process: { id: 'p1', name: 'toolkeel', pid: 41_077, machine: 'ops-1', state: 'live' },
      calls,
      audit,
    },
    actions: isUnknown ? ['check_upstream', 'it_happened', 'it_did_not_happen'] : [],
  };
}

const tool = (
  name: string,
  effect: ToolInfo['effect'],
  title: string,
  more: Partial<ToolInfo> = {},
): ToolInfo => ({
  name,
  title,
  description: `${title}. Answers with one envelope.`,
  category: name.split('_')[0] === 'x' ? 'posts' : 'search',
  version: '1.0',
  effect,
  mutation: effect !== 'read',
  destructive: false,
  open_world: true,
  profiles: ['readonly', 'api', 'workflow'],
  requires: [],
  possible_error_codes: [
    { code: 'timeout', retryable: true, meaning: 'The call did not end in time.' },
    {
      code: 'circuit_open',
      retryable: true,
      meaning: 'The upstream has failed too often; no request was sent.',
    },
    {
      code: 'validation_error',
      retryable: false,
      meaning: 'An argument does not match the schema.',
    },
  ],
  sensitive: [],
  input_schema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What to search for.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: 10,
        description: 'Items a page.',
      },
      sort: { enum: ['newest', 'oldest'], description: 'The order.' },
    },
    required: ['query'],
  },
  output_schema: { type: 'object', oneOf: [] },
  input_schema_hash: 'sha256:2f1c9a',
  output_schema_hash: 'sha256:77e0b1',
  tokens: { model: 164, listing: 402 },
  can_try: effect === 'read',
  ...more,
});

export const toolList = (): ToolsResponse => ({
  profile: 'workflow',
  tools: [
    tool('search_items', 'read', 'Search the items of a catalogue'),
    tool('get_item', 'read', 'Get one item'),
    tool('github_list_issues', 'read', 'List issues'),
    tool('x_post_tweet', 'once', 'Publish a post', {
      output_schema: {
        type: 'object',
        properties: { id: { type: 'string' }, text: { type: 'string' } },
        required: ['id', 'text'],
      },
      input_schema: {
        type: 'object',
        properties: {
          text: { type: 'string', maxLength: 4000, description: 'The text of the post.' },
        },
        required: ['text'],
      },
    }),
    tool('x_delete_tweet', 'once', 'Delete a post', { destructive: true }),
    tool('x_like_tweet', 'idempotent', 'Like a post'),
  ],
  elsewhere: [{ name: 'write_file', effect: 'once', process_id: 'p3', process_name: 'filesystem' }],
  tokens: { model: 984, listing: 2412 },
});

export const policy = (): PolicyResponse => ({
  profile: 'workflow',
  mode: 'autopilot',
  template: 'open',
  template_description: 'Allows what no rule forbids.',
  approval_expires_in_ms: 86_400_000,
  blocked_tools: [],
  rules: [
    {
      name: 'no-deletes-of-others',
      source: 'hard',
      action: 'deny',
      when: 'tool is x_delete_tweet and the post is not your own',
      tools: ['x_delete_tweet'],
    },
    {
      name: 'posts-need-a-person',
      source: 'user',
      action: 'require_approval',
      when: 'tool is x_post_tweet',
      reason: 'Public statements are read by a person first.',
      tools: ['x_post_tweet'],
    },
    {
      name: 'issues-of-the-weekend',
      source: 'user',
      action: 'require_approval',
      when: 'tool is github_create_issue and the day is Saturday or Sunday',
      tools: ['github_create_issue'],
    },
    {
      name: 'template:open',
      source: 'template',
      action: 'allow',
      when: 'always',
      tools: ['search_items', 'get_item', 'x_like_tweet'],
    },
  ],
  limits: [
    {
      name: 'posts-a-day',
      max: 20,
      window_ms: 86_400_000,
      source: 'user',
      each: 'account',
      when: 'tool is x_post_tweet',
    },
  ],
  config: {
    mode: 'autopilot',
    rules: [
      { name: 'posts-need-a-person', when: { tool: 'x_post_tweet' }, action: 'require_approval' },
    ],
  },
  file: 'toolkeel.config.json',
});

export const explained = (): ExplainResponse => ({
  tool: 'x_post_tweet',
  mode: 'autopilot',
  template: 'open',
  decision: 'require_approval',
  rule: 'posts-need-a-person',
  explanation: 'The rule posts-need-a-person requires approval: tool is x_post_tweet.',
  limits: [],
  rules: [
    {
      rule: 'posts-need-a-person',
      source: 'user',
      action: 'require_approval',
      when: 'tool is x_post_tweet',
      matches: 'yes',
      decides: true,
      conditions: [{ condition: 'tool is x_post_tweet', holds: 'yes' }],
    },
    {
      rule: 'template:open',
      source: 'template',
      action: 'allow',
      when: 'always',
      matches: 'no',
      decides: false,
      conditions: [],
    },
  ],
});

export const replayed = (base: number): ReplayResponse => ({
  since: new Date(base - 7 * 86_400_000).toISOString(),
  operations: 40,
  skipped: 1,
  now: { allow: 28, require_approval: 12, dry_run: 0, deny: 0, limited: 0 },
  changed: { allow: 25, require_approval: 12, dry_run: 0, deny: 3, limited: 0 },
  text: 'Would have asked 12 times and denied 3 of 40 operations.',
  differences: [
    {
      operation_id: 'op_01JC60001',
      tool: 'x_post_tweet',
      created_at: new Date(base - 90_000_000).toISOString(),
      decisive: { name: 'text', value: 'Update 2 of the week', cut: false },
      was: { decision: 'allow' },
      becomes: { decision: 'deny', rule: 'no-links' },
    },
  ],
});

export function consequencesOf(
  { action }: Action,
  { tool, account, approval }: Operation,
  isPaused: boolean,
): string[] {
  if (action === 'reject') return ['It is not executed.', 'The agent receives your reason.'];
  if (action === 'check_upstream') {
    return ['Reads x (api.x.com), and changes nothing there.', 'Without proof it stays unknown.'];
  }
  if (action === 'it_did_not_happen') {
    return [
      'Recorded as not done.',
      'A repeated call sends it: if it did happen, it happens twice.',
    ];
  }
  if (action === 'it_happened') {
    return ['Recorded as done, and never sent again.', 'Repeated calls are told so.'];
  }
  const { cost } = approval ?? {};
  const price = cost === undefined ? '' : `, for ${cost.amount} ${cost.unit}`;
  if (!isPaused) return [`Posts this once, as ${account}${price}, within about 1 s of your press.`];
  return [
    'Nothing is sent now. Requests to x (api.x.com) fail (circuit open).',
    `Later: ${tool === 'x_post_tweet' ? 'posts this' : `runs ${tool}`} once, as ${account}${price}, unless it expires first.`,
  ];
}
