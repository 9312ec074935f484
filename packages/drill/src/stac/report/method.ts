import { change, percent } from '../../report/format.js';
import { CALLS_PER_BLOCK } from '../calls/arguments.js';
import * as bars from '../judge/bars.js';
import { noiseRule } from '../judge/noise.js';
import { FAULT_RATE, SIGMA, TIMEOUT_SHARE } from '../scenarios.js';

/** How it is measured: as much as is needed to doubt it. Markdown without anything but emphasis. */
export const method: readonly string[] = [
  '**What runs.** `toolkeel serve stac` as a process, the official MCP client over stdio, and a STAC API on real sockets in a thread of its own that fails on command. Every arm has a server process and upstreams of its own, so that budgets, breakers and known latencies are not shared.',
  `**Latency and faults.** Lognormal (σ ${SIGMA}) with the p95 that the scenario names. Every request that arrives fails with ${percent(FAULT_RATE, 0)}, independently, in a tenth of the time of its answer: 500, 502, 503, 504, 429, a reset before or after the request was read, or half a body, all alike often. In the mix ${percent(TIMEOUT_SHARE, 0)} of the faults send no byte until the attempt’s own timeout ends them, and hedging is on.`,
  `**Calls.** Every call of a tool has other arguments. They go in blocks of ${CALLS_PER_BLOCK} calls of each tool, well mixed; every block is made in each arm before the next block begins, the arms taking turns at going first. In every arm the upstream draws the same latencies and faults for the same requests, so that arms differ by what is done about them.`,
  `**Whether it counts.** Fixed before the run: ${noiseRule}`,
  '**p95** is that of all calls of a scenario, failed ones included, against that of the same calls without faults and without hedging. Its 95 % interval is a bootstrap over blocks, the same blocks drawn for both arms.',
  `**Success** is an envelope that says so. *Requests* is what a call makes of the upstream when nothing fails, counted in its log. A request succeeds within ${bars.ATTEMPTS_BAR} attempts with 1 − 0.2³ = ${percent(bars.REQUEST_SUCCESS)}. *Partial* are successes that say less than without faults, and say that they do: a federated search without one of its catalogues, a size without one of its files.`,
  '**The witness.** Before the run every call is made once, alone, to learn which requests it makes; no two calls of a block make the same. So each request in the upstream’s log belongs to one call: attempts are counted there, the retries that an envelope tells of must be the ones that arrived, a success must have been answered, and a failure must have been tried three times in vain.',
  '**Nothing is cached.** The pack has neither cache nor singleflight; the upstream sends no ETags. It does remember where a catalogue has its search and its collections, for five minutes, as in production: that is renewed between blocks. `get_root`, `get_conformance` and `get_catalog_capabilities` always read the first page, and each call of `get_queryables` names a catalogue never met before, so that it has to.',
  `**Bars.** Each tool ≥ ${percent(bars.TOOL_SUCCESS_BAR, 0)} of ${bars.TOOL_CALLS} calls; the tools of one request pooled ≥ ${percent(bars.SUCCESS_BAR)}; a tool of k requests not below ${bars.REQUEST_SUCCESS}ᵏ less ${bars.DEVIATIONS} binomial standard deviations, over all latencies; p95 within ${change(bars.P95_BAR)}; a call within its cap and ${bars.WALL_SLACK_MS} ms; at most ${bars.ATTEMPTS_BAR} attempts at a request; no envelope that breaks its schema.`,
  '**Good to know.** Half of an empty body is all of it: for HEAD requests one fault in eight is not felt. The server draws its jitter unseeded, so that times differ a little between runs of one seed; the faults do not.',
];
