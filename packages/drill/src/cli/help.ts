import { sweepNames } from '../sweeps/index.js';
import { FULL_CALLS, QUICK_CALLS } from './args.js';

export const help = `Runs our retry policy and others against simulated upstreams, in virtual time, and holds
ours against its objectives. The same seed prints the same bytes.

  npm run simulate -- [options]

  --calls N         calls a cell (default ${FULL_CALLS}; scenarios are in proportion)
  --quick           ${QUICK_CALLS} calls a cell: the whole table in seconds
  --seed S          which luck (default 1)
  --cells PATTERN   only what contains PATTERN, * for anything: cell/fast, outage/*/ours
  --sweep NAME      how a choice of numbers trades p95, success and load: ${sweepNames.join(', ')}
  --json            results and verdicts as JSON
  --write           the full table, the sweeps and their reading into docs/simulation.md
  --threads N       default: one for each core
  -h, --help

Exit code: 0 if every bar that can be met is met, 1 if one is missed, 2 for wrong usage.

Example, our policy and its rivals at 200 ms with fast faults:

  npm run simulate -- --quick --cells cell/fast/200
`;
