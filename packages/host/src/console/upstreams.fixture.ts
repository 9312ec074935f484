import type { UpstreamReport } from '../call/process-description.js';
import { knownProcess, type KnownProcess } from './process-view.js';

export const NOW = 1_000_000;
export const open: UpstreamReport = {
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

export const process = (pid: number, upstream: UpstreamReport): KnownProcess =>
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
