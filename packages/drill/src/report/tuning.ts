import type { SweepName } from '../sweeps/index.js';
import type { Table } from './table.js';

/** A figure of a table, by its row and column, for a sentence about it. */
export type Quote = (row: string, column: string) => string;

export function quoteFrom({ title, head, rows }: Table): Quote {
  return (row, column) => {
    const at = head.indexOf(column);
    const found = rows.find(([first]) => first?.text.startsWith(row))?.[at];
    if (at < 0 || found === undefined) throw new Error(`${title} has no ${row} / ${column}`);
    return found.text;
  };
}

const shipped = 'as shipped';

/** Why each number is what it is, in the figures of its own table. */
export const reasoning: Record<SweepName, (quote: Quote) => string> = {
  alpha: (q) =>
    `Any α up to 1 meets the bar with fast faults (${q(shipped, 'fast, 200 ms')} as shipped, ${q('α 1', 'fast, 200 ms')} at 1), and any wait of a fraction of a median is too short to outlast an outage: in bursts they hardly differ (${q(shipped, '200 ms outages, 100/s')} and ${q('α 1', '200 ms outages, 100/s')}). What decides is a fault that takes time: with half the time of an answer α 1 costs ${q('α 1', 'half, 200 ms')} and misses, 0.25 costs ${q(shipped, 'half, 200 ms')}. Smaller still gains nothing and spreads less. The seed's own caps ride out bursts best (${q('no scaling', '200 ms outages, 100/s')}) and cost ${q('no scaling', 'fast, 5 ms')} on a fast upstream: that is the contradiction in the requirement, and why the caps come back under sustained failure, next.`,
  fallback: (q) =>
    `Short waits are right for single faults and wasted within an outage, so above a share of recent failures the seed's full caps take over. Without that (*never*) outages of 50 ms at 2 calls a second leave ${q('never', '50 ms outages, 2/s')} of calls, with it ${q(shipped, '50 ms outages, 2/s')}. More eager rules gain a few points there and pay with the tail at single faults: above 30 % of 16 the p95 at 5 ms is ${q('above 30 % of the last 16', 'p95 fast, 5 ms')}, and at 25 % faults ${q('above 30 % of the last 16', 'p95, 25 % faults')} against ${q(shipped, 'p95, 25 % faults')}. Shorter memories with higher thresholds come out the same.`,
  budget: (q) =>
    `*Half a token a success* lets every retry through up to about 30 % faults (${q(shipped, '30 %')}); 0.3 starves them there. *The capacity* is what a full outage costs in all, so the bar of 1.1× over 1,000 calls leaves at most 100; 60 keeps room for hedges and for the tokens that requests under way still earn behind a closed door. *None for time alone*: 0.05 a second sounds like nothing and is ${q('60 tokens, 0.5 a success, 0.05 a second', 'crash 0.2/s')} for an agent that calls every five seconds. The price is paid in bursts at high rates: a second of outage at 100 calls a second would need two hundred retries, and the first second of a long outage looks just the same. Behind a closed door at 2000 calls a second the bar is passed (${q(shipped, 'door 2000/s')}): some 190 requests are under way, their answers are real successes, and each earns half a retry.`,
  breaker: (q) =>
    `A circuit that opens at *50 %* opens falsely (${q('50 %', 'false, 2/s, 30 %')} runs at 2 calls a second and 30 % faults; at 40 % faults *70 %* does too, ${q('70 %', 'false, 2/s, 40 %')}). *80 %*, because below it callers lose more by an open circuit than by trying, and the budget bounds the load anyway. *In 10 s*: half of it opens sooner and cuts more short outages in two (${q('in 5 s', '5 s outages, 2/s')} of calls against ${q(shipped, '5 s outages, 2/s')} at 2 calls a second), twice as much takes ${q('in 20 s', 'silence 100/s')} to notice at 100 calls a second that nothing answers, instead of ${q(shipped, 'silence 100/s')}. *Of 20*: where each attempt takes six seconds to fail, 40 take longer to come together at 2 calls a second (${q('of 40', 'silence 2/s')} against ${q(shipped, 'silence 2/s')}). *Open for 1 s at first*: most outages are short, and a circuit that stays open for 10 to 60 s makes longer ones of them (${q('open 10 to 60 s', '5 s outages, 2/s')}). Doubling up to *20 s* keeps the load of a long outage at ${q(shipped, 'load open')} even at 2 calls a second. *Two probes*: one success closes, both must fail to open again, so that a look at an upstream that has recovered to 20 % faults errs once in 25 times. No circuit at all would serve callers best in outages of seconds (${q('no breaker', '5 s outages, 2/s')}); it is there for the long ones, in which it spares the upstream and, when nothing answers, the callers their six seconds.`,
  hedge: (q) =>
    `p95 is the promise, so hedging has to come before it: after *p95* it comes too late when one fault in five is a timeout (${q('p95', 'mix, 200 ms')}). *p85* (${q(shipped, 'mix, 200 ms')}) leaves room under both bars and brings even faults as slow as answers to about the bar (${q(shipped, 'same, 200 ms')}); *p75* gains little, because its tokens run out first. Without faults it costs a load too (${q(shipped, 'no faults')}): that is why hedging is opt-in. *0.2 a success* covers what p85 asks for, and *10 tokens* are all that hedging can add to an outage. While the upstream keeps failing a fault does not fire the second request at once, so that bursts cost no more than without hedging (${q(shipped, '200 ms outages, 100/s')} and ${q('no hedging', '200 ms outages, 100/s')} of calls succeed).`,
};
