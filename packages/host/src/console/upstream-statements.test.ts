import type { StoredCall } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import type { UpstreamReport } from '../call/process-description.js';
import { knownProcess, type KnownProcess } from './process-view.js';
import { upstreamStatements } from './upstream-statements.js';

const NOW = 1_000_000;
const open: UpstreamReport = {
  pack: 'x',
  name: 'api.x.com',
  circuit: 'open',
  probeAt: NOW + 10_000,
  limits: [],
  observed: {
    attempts: 9,
    failures: 9,
    failing: 9,
    failingSince: NOW - 60_000,
    lastFailure: { at: NOW - 1000, kind: 'server', sent: 'answered', status: 503 },
    changes: [{ at: NOW - 5000, state: 'open' }],
  },
};

const process = (pid: number, upstream: UpstreamReport): KnownProcess =>
  knownProcess(
    {
      id: `p${pid}`,
      startedAt: 0,
      reportedAt: NOW,
      info: JSON.stringify({
        name: 'toolkeel',
        transport: 'stdio',
        pid,
        packs: [{ name: 'x', tools: [{ name: 'x_post', effect: 'once' }] }],
      }),
      state: JSON.stringify({ upstreams: [upstream], inFlight: [] }),
    },
    NOW,
  );
const store = {
  calls: ({ process: id }: { readonly process?: string }) =>
    Promise.resolve(
      [
        { process: 'p1', tool: 'x_post' },
        { process: 'p2', tool: 'x_post' },
        { process: 'p1', tool: 'other' },
      ].filter((call) => call.process === id) as unknown as readonly StoredCall[],
    ),
};
const said = (...processes: readonly KnownProcess[]) =>
  upstreamStatements({ processes, now: NOW }, { store } as unknown as Parameters<
    typeof upstreamStatements
  >[1]);

describe('an upstream that fails', () => {
  it('is named with its pack and the process that sees it', async () => {
    expect(await said(process(1, open))).toMatchObject([
      {
        kind: 'circuit_open',
        text: 'The circuit of api.x.com (x) is open in toolkeel (stdio, pid 1). No request is sent. The last failure was a server error (503).',
        since: new Date(NOW - 60_000).toISOString(),
        until: new Date(NOW + 10_000).toISOString(),
        affected_calls: 1,
        tools: ['x_post'],
        process_id: 'p1',
      },
    ]);
  });

  it('is said once, not once for each process', async () => {
    const later = { ...open, probeAt: NOW + 20_000 };
    const [statement, ...others] = await said(process(1, later), process(2, open));
    expect(others).toEqual([]);
    expect(statement?.text).toContain('is open in 2 processes. No request is sent.');
    expect(statement).toMatchObject({
      affected_calls: 2,
      until: new Date(NOW + 10_000).toISOString(),
    });
    expect(statement).not.toHaveProperty('process_id');
  });

  it('is said once while its circuit is open in one process and not yet in another', async () => {
    const failing = { ...open, circuit: 'closed' } as const;
    const [statement, ...others] = await said(process(1, failing), process(2, open));
    expect(others).toEqual([]);
    expect(statement).toMatchObject({ kind: 'circuit_open', affected_calls: 2 });
    expect(statement?.text).toMatch(
      /is open in toolkeel \(stdio, pid 2\)\..* fails in another process, too\.$/,
    );
  });

  it('does not claim that no request is sent when its probe is due', async () => {
    const [statement] = await said(process(1, { ...open, probeAt: NOW - 1 }));
    expect(statement?.text).toContain('The next call is sent as a probe.');
    expect(statement).not.toHaveProperty('until');
  });
});
