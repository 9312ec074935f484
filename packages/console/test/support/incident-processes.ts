import type { InFlightCall, ProcessState, UpstreamState } from '../../src/api/types.js';
import { TOOLS, type Clock } from './incident-tools.js';

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

export function processes(ago: Clock, ahead: Clock): ProcessState[] {
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

export function inFlight(ago: Clock, ahead: Clock): InFlightCall[] {
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
