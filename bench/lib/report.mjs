import { asMarkdown, plot, withSpread } from './format.mjs';
import { instances } from './heap.mjs';
import { guardRounds, guardTable } from './guard/guard.mjs';
import { journalRounds, journalTable } from './journal/journal.mjs';
import { postgresRounds, postgresTable, processes } from './journal/postgres.mjs';
import { machine, versionTable } from './machine.mjs';
import { lines } from './packages.mjs';
import { servedRounds, servedTable } from './served/served.mjs';
import { settings } from './settings.mjs';
import { costTable, heapTable, ofBare, sizeTable, thresholdTable } from './tables.mjs';

/**
 * @typedef {object} Run
 * @property {import('./thresholds.mjs').Results} results
 * @property {import('./thresholds.mjs').Judgement[]} judgements
 * @property {import('./tables.mjs').Cases} cases
 * @property {import('./tables.mjs').Groups} groups
 * @property {readonly import('./nodes.mjs').Runtime[]} runtimes
 * @property {Record<'all' | 'explaining', Record<import('./packages.mjs').Line, number>> & { heap: number }} rounds
 * @property {number} batches
 * @property {{ min: number, max: number }} load
 */

const fence = '```';

/** The complete policies, without variations and primitives. */
const plotted = [
  'composition',
  'resilience-stac',
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

The cost of a successful resilient call, compared with other libraries. The command writes this page; do not edit it.

${fence}sh
npm run bench
${fence}

It installs the compared libraries, measures everything in one run of about ten minutes, checks the thresholds and writes this page. It fails if a threshold is missed. \`npm run bench -- --quick\` takes about a minute and writes nothing.

## Thresholds

The thresholds for a call apply to \`retry + deadline + breaker + budget + counters\`, composed explicitly, with a callee that does not read its signal. "Cheaper" compares the cost added to the bare call. The last thresholds apply to a whole server.

${asMarkdown(thresholdTable(judgements))}

${fence}text
${plots(run)}
${fence}

## One successful call

CPU time, as a multiple of a bare \`await fn()\`, and in microseconds added to it. Each figure is the median of the rounds, with the lowest and the highest round in brackets.

${asMarkdown(costTable(results, cases, groups))}

Notes:

- **Compare ratios.** On another machine the microseconds differ and the ratios are about the same.
- **Noise.** "The bare await, measured again" is the bare call relative to itself: ${noise}. Differences smaller than that, or than the brackets, are not significant.
- **The callee is an async function that returns a constant**, the worst case for relative overhead. Compared with a network request, every row is small.
- **A signal is created when it is first read.** On Node 20 this costs more than the rest of a resilient call, on Node 24 almost nothing: compare the callee that reads its signal with the \`AbortController\` at the end of the table.
- **The rows have different features.** p-retry, \`@smithy/util-retry\` and the hand-written loop neither time out nor open a circuit, opossum does not retry, Effect has no circuit. Toolkeel and cockatiel do all three.
- **"Layer by layer" is the same composition with fewer layers.** Most of the cost is the call itself: a promise that settles independently of the callee, and two clock readings. A layer costs about as much as the noise.

## Heap

Retained memory of each instance after two calls: ${instances} instances, after garbage collection, heap and array buffers, median of ${rounds.heap} new processes. p-retry has no instance: it is a function.

${asMarkdown(heapTable(results, cases))}

## Size

Everything that the case imports, in one ES module: \`esbuild --bundle --minify\`, then \`gzip -9\`.

${asMarkdown(sizeTable(results, cases))}

## A server

The overhead of our host for a trivial tool, and the start-up time of a server. Medians over rounds or starts, with the lowest and the highest in brackets.

${asMarkdown(servedTable(results.served))}

- **The tool** returns its input. Our host validates arguments and answer, wraps the answer in an envelope, counts and logs the call; the bare SDK (\`McpServer\`, as documented) validates arguments and answer. Our answers are also larger: they contain the envelope twice.
- **The client** writes and reads lines on a pipe, one call at a time. A real client adds its own time to both.
- **${servedRounds.calls} rounds in new processes**, with interleaved blocks of calls. "Against itself" is a second process with the bare SDK in the same run: the noise.
- **The start** is the time from \`spawn\` to the answer of the first \`tools/list\`, handshake included: \`toolkeel serve stac\` in its published layout, compared with \`mcp-server-everything\`, ${servedRounds.starts} alternating starts each.

## The journal

The cost of at-most-once execution, compared with three hand-written statements. Medians of ${journalRounds} new processes, with the lowest and the highest in brackets.

${asMarkdown(journalTable(results.journal))}

- **Both make three durable commits** (write-ahead log, \`synchronous=FULL\`), with the same driver, in the same process, alternating. Disk time dominates: compare the rate, not the microseconds.
- **The bare statements have no** leases, audit chain, policy limits or expiry of dedup keys.
- **A replay** is a claim that finds a settled operation. It writes nothing.
- **In memory** is CPU time, of blocks of 1,000 operations next to which a constant workload took at most 1.2 × its minimum, because on a shared core the cost of everything may double for short periods. The other figures are wall time.

### In PostgreSQL

Compared with three hand-written transactions on the same server. Medians of ${postgresRounds} new processes, with the lowest and the highest in brackets.

${asMarkdown(postgresTable(results.postgres))}

- **Both make three durable commits** on a private server (\`fsync = on\`), with the same driver and eight connections, in the same process, in alternating blocks. Each transaction is one round trip; concurrent ones of the journal share them.
- **Lock waits** are the sessions with \`wait_event_type = 'Lock'\` among the active ones in \`pg_stat_activity\`, sampled while ${processes} processes with 8 operations in flight each use one journal.

## The guard

A read tool of \`server-everything\` through \`toolkeel guard\` and other proxies, with a constant number of calls in flight. Medians of ${guardRounds} rounds of new processes, with the lowest and the highest in brackets.

${asMarkdown(guardTable(results.guard))}

- **The guard runs with all of its checks**: arguments against the server's schema, a policy rule for the tool, deadline, retries, breaker, metrics, and a record of every call in the journal. The other proxies pass frames on.
- **CPU** is that of the proxy process alone, from the operating system. On stdio it is the process that the client starts; for the direct connection that is the server itself.
- **Warm-up**: every process answers some 25,000 calls on stdio before the rate with 16 in flight is measured; before that, V8 has not optimised it yet.
- **HTTP** is one session of revision 2025-11-25 with up to 50 connections; each proxy starts the server on stdio.
- **The SDK proxy** (\`bench/servers/sdk-proxy.mjs\`) connects the SDK's \`Server\` with its \`Client\` and forwards \`tools/list\` and \`tools/call\`.
- **A mutation** is recorded in the journal before it is sent and after it is answered. The insert is one row in a table, with the same driver and durability.

## Method

- **Every case runs in a new process** for each round (rounds: ${perLine(rounds.all)}; for explanatory cases: ${perLine(rounds.explaining)}), in random order within a round, all libraries in the same run. In a process, after a warm-up, ${batches} batches of the bare call and ${batches} of the wrapped call alternate; each is compared with its neighbour, and the median is reported.
- **The clock is CPU time** (\`process.cpuUsage\`, including the garbage collector's threads), which other processes on the machine affect much less than wall time.
- **A self-check runs on the timed object first**, in the same process: it retries ${retries} faults, it times out after ${timeoutMs} ms although the callee never settles and ignores its signal, and it opens and closes its circuit. Other libraries are checked for their configured features. If the check fails, the case is not timed and the command fails.
- **All libraries have the same settings**, as far as they support them (\`bench/lib/settings.mjs\`): ${retries} retries; a timeout of ${timeoutMs} ms; a circuit that opens when ${failureShare * 100} % of at least ${minimumAttempts} attempts within ${windowMs / 1000} s have failed, for ${openMs} ms. The times are short for the self-check; they do not affect a successful call.
- **Each library is used as documented** (\`bench/cases/libraries.mjs\`). cockatiel's timeout is the aggressive strategy, because the cooperative one leaves the caller waiting for a callee that ignores its signal. Much of its cost is the \`abort()\` at the end of every successful call; the next row shows it without.
- **The bare call is minimal**: the callee of the other rows has a switch for the self-check, which costs about 4 ns in all of them.

## This run

${new Date().toISOString().slice(0, 10)}, ${cpu}, ${cores} cores, ${system}, Node ${runtimes.map(({ version }) => version).join(' and ')}. A bare await took ${bareNs}. The load average was between ${load.min.toFixed(1)} and ${load.max.toFixed(1)}, including 1 of the benchmark itself.

${asMarkdown(versionTable())}
`;
};
