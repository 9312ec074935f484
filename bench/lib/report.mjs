import { withSpread } from './format.mjs';
import { instances } from './heap.mjs';
import { journalRounds, journalTable } from './journal/journal.mjs';
import { machine, versionTable } from './machine.mjs';
import { lines } from './packages.mjs';
import { plot } from './plot.mjs';
import { servedRounds, servedTable } from './served/served.mjs';
import { settings } from './settings.mjs';
import { asMarkdown } from './table.mjs';
import { barTable, costTable, heapTable, ofBare, sizeTable } from './tables.mjs';

/**
 * @typedef {object} Run
 * @property {import('./bars.mjs').Results} results
 * @property {import('./bars.mjs').Judgement[]} judgements
 * @property {import('./tables.mjs').Cases} cases
 * @property {import('./tables.mjs').Groups} groups
 * @property {readonly import('./nodes.mjs').Runtime[]} runtimes
 * @property {Record<'all' | 'explaining', Record<import('./packages.mjs').Line, number>> & { heap: number }} rounds
 * @property {number} batches
 * @property {{ min: number, max: number }} load
 */

const fence = '```';

/** What a reader wants to see side by side: whole answers to "guard this call". */
const plotted = [
  'composition',
  'guard-stac',
  'cockatiel',
  'opossum',
  'p-retry',
  'effect',
  'smithy',
  'hand-loop',
  'hand-loop-timeout',
];

/** @param {Run} run */
const plots = ({ results: { costs }, cases, groups }) =>
  lines
    .map((line) => {
      const items = plotted.flatMap((id) => {
        const value = costs[line]?.[id]?.addedUs.median;
        const ours = groups.find(({ title }) => title === 'Toolkeel')?.cases.includes(id)
          ? 'Toolkeel: '
          : '';
        return value === undefined ? [] : [{ label: ours + (cases.get(id)?.name ?? id), value }];
      });
      return `Node ${line}, µs of CPU time added to a call that succeeds\n\n${plot(items)}`;
    })
    .join('\n\n');

/** @param {Run} run */
export const markdown = (run) => {
  const { results, judgements, cases, groups, runtimes, rounds, batches, load } = run;
  const { cpu, cores, system } = machine();
  const { retries, timeoutMs, failureShare, minimumAttempts, windowMs, openMs } = settings;
  const perLine = (/** @type {Record<import('./packages.mjs').Line, number>} */ count) =>
    runtimes.map(({ line }) => `${count[line]} on Node ${line}`).join(', ');
  const noise = ofBare(results, ({ ratio }) => withSpread(ratio));
  const bareNs = ofBare(results, ({ bareNs: { median } }) => `${Math.round(median)} ns`);
  return `# Benchmarks

What a guarded call costs when nothing goes wrong, beside what others charge for it. This page is written by the command; do not edit it.

${fence}sh
npm run bench
${fence}

It installs the rivals, measures everything in one run of about eight minutes, judges the bars and writes this page. It fails when a bar is missed. \`npm run bench -- --quick\` is a first look in about a minute and writes nothing.

## The bars

Those about a call are about \`retry + deadline + breaker + budget + counters\`, composed by hand, around a callee that does not read its signal. "Cheaper" compares what each adds to the bare call. The last ones are about a whole server.

${asMarkdown(barTable(judgements))}

${fence}text
${plots(run)}
${fence}

## One successful call

CPU time, as a multiple of \`await fn()\` with nothing around it, and in microseconds on top of it. Each figure is the median of the rounds, with the lowest and the highest round in brackets.

${asMarkdown(costTable(results, cases, groups))}

How to read it:

- **Ratios travel, microseconds do not.** On another machine expect other microseconds and about the same ratios.
- **The noise is in the table.** "The bare await once more" is the bare call measured against itself: ${noise}. Believe no difference that is smaller than that, or than the brackets.
- **The callee is an async function that returns a constant**, the worst case for whoever stands around it. Next to a request over a network, every row is small.
- **A signal is made when it is first read.** On Node 20 making one costs more than all the rest of a guarded call, on Node 24 next to nothing: compare the callee that reads its signal with the \`AbortController\` at the end of the table.
- **The rows promise different things.** p-retry, \`@smithy/util-retry\` and the plain loop neither time out nor open a circuit, opossum does not retry, Effect has no circuit. Ours and cockatiel's do all three.
- **"Layer by layer" is the same composition, built up.** Most of the price is the call itself: a promise that settles whatever the callee does, and two readings of the clock. A layer is about as small as the noise.

## Heap

What stays in memory for each instance after it has made two calls: ${instances} instances, garbage collected, heap and array buffers together, median of ${rounds.heap} fresh processes. p-retry has no instance: it is a function.

${asMarkdown(heapTable(results, cases))}

## Size

Everything that the case imports and nothing else, in one ES module: \`esbuild --bundle --minify\`, then \`gzip -9\`.

${asMarkdown(sizeTable(results, cases))}

## A server

What our host adds to a tool that does next to nothing, and how long a server takes to be there. Medians, with the lowest and the highest in brackets: of the rounds for calls, of the starts for starts.

${asMarkdown(servedTable(results.served))}

- **The tool** gets a text and gives it back. On our host that means arguments checked, an envelope, its answer checked, counters and a log line; on the bare SDK (\`McpServer\`, as its manual says) arguments and answer checked. Ours also has more to say: the envelope is twice in every answer.
- **The client** writes lines to a pipe and reads lines from it, one call at a time, and does nothing else. A real one adds its own time to both.
- **${servedRounds.calls} rounds in fresh processes**, blocks of calls taking turns. "Against itself" is a second process with the bare SDK in the same run: the noise.
- **The start** is the time from \`spawn\` to the answer of the first \`tools/list\`, handshake included: \`toolkeel serve stac\`, laid out as it is published, beside \`mcp-server-everything\`, ${servedRounds.starts} starts each, taking turns.

## The journal

What it costs to act at most once, beside the three statements that a careful program would write by hand. Medians of ${journalRounds} fresh processes, with the lowest and the highest in brackets.

${asMarkdown(journalTable(results.journal))}

- **Both confirm three commits to the disk** (write-ahead log, \`synchronous=FULL\`), on the same driver, in the same process, taking turns. That is the disk's time: the rate travels, the microseconds do not.
- **The bare statements have no** leases, no audit chain, no limits and no end of a slot's time.
- **A replay** is a claim that finds what was already done. It writes nothing.
- **In memory** it is CPU time, of blocks of 1,000 beside which a small piece of work that is always the same took at most 1.2 × its least time: where others use the same core, everything costs twice as much for moments. It is the time of the wall for the others.

## How it is measured

- **Every case runs in a fresh process** for each round (rounds: ${perLine(rounds.all)}; for what only explains the others: ${perLine(rounds.explaining)}), the order within a round left to chance, all rivals in the same run. Inside a process, after a warm-up, ${batches} batches of the bare call and ${batches} of the wrapped one take turns; each is compared with its neighbour, and the median counts.
- **The clock is CPU time** (\`process.cpuUsage\`, the collector's threads included): other programs on a machine take much more wall time than CPU time from us.
- **The very object that is timed first shows that it works**, in the same process: it retries ${retries} faults so that the caller does not notice, it times out after ${timeoutMs} ms although its callee never settles and looks at no signal, it opens its circuit and closes it again. A rival shows what it is configured to do. What fails this check is not timed, and the command fails.
- **The settings are the same for all**, as far as they have them (\`bench/lib/settings.mjs\`): ${retries} retries; a timeout of ${timeoutMs} ms; a circuit that opens when ${failureShare * 100} % of at least ${minimumAttempts} attempts within ${windowMs / 1000} s have failed, for ${openMs} ms. The times are short for the sake of the check; on the way of a success they do not matter.
- **Each rival is used as its manual says**, one short file each in \`bench/cases\`. cockatiel's timeout is the aggressive kind, because the other one leaves a caller waiting for a callee that ignores its signal. Much of its price is the \`abort()\` with which it ends every call that succeeded; the row below it shows it without.
- **The bare call is at its cheapest**: the callee of the other rows carries a switch for the self-check, some 4 ns that all of them pay.

## This run

${new Date().toISOString().slice(0, 10)}, ${cpu}, ${cores} cores, ${system}, Node ${runtimes.map(({ version }) => version).join(' and ')}. A bare await took ${bareNs}. The load average was between ${load.min.toFixed(1)} and ${load.max.toFixed(1)}, 1 of it our own.

${asMarkdown(versionTable())}
`;
};
