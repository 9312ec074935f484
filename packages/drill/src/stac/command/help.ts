import { toolNames } from '../calls/arguments.js';
import { FULL_CALLS, LATENCIES, MIX_LATENCY, QUICK_CALLS, QUICK_LATENCY } from './args.js';

export const help = `Starts real STAC servers, calls every tool over MCP on stdio while their upstream fails on
command, and holds what comes back against the objectives. The upstream's own log is the witness.

  npm run drill:stac -- [options]

  --calls N           calls of each tool in each arm (default ${FULL_CALLS})
  --latency MS,…      p95 of the upstream's own answers (default ${LATENCIES.join(',')}; with timeouts ${MIX_LATENCY})
  --faults KIND,…     fast, mix (one fault in five a timeout, hedging on); default both
  --tools NAME,…      only these of ${toolNames.length}: ${toolNames.slice(0, 3).join(', ')}, …
  --seed S            which catalogue and which luck (default 1)
  --quick             ${QUICK_CALLS} calls a tool at ${QUICK_LATENCY} ms: does it all work? Nothing is timed
  --json FILE         all figures, for a machine
  --html FILE         a page with pictures that needs nothing else
  --markdown FILE     a page for a repository
  -h, --help

Exit code: 0 if every bar is met, 1 if one is missed, 2 for wrong usage, 3 if none is missed but the
machine was too noisy to judge the latency.

Example, two tools on a fast upstream:

  npm run drill:stac -- --tools get_item,search_items --latency 50 --faults fast
`;
