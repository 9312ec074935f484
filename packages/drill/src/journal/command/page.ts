import { broken, type Tally } from '../drive/tally.js';

export interface Run {
  readonly at: string;
  readonly seed: number;
  readonly store: 'sqlite' | 'postgres';
  readonly node: string;
  readonly faultRate: number;
  readonly control: Tally;
  readonly total: Tally;
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');

const rows: readonly (readonly [label: string, of: (tally: Tally) => string])[] = [
  ['different acts asked for', ({ acts }) => whole(acts)],
  ['calls, re-issues included', ({ calls }) => whole(calls)],
  ['processes killed with SIGKILL', ({ deaths }) => whole(deaths)],
  ['calls that lost their server', ({ lost }) => whole(lost)],
  ['effects in the upstream’s log', ({ effects }) => whole(effects)],
  ['**acts done more than once**', ({ duplicates }) => `**${whole(duplicates)}**`],
  ['answers from the journal', ({ replays }) => whole(replays)],
  ['callers told "unknown"', ({ unknown }) => whole(unknown)],
  ['callers told different things', ({ contradictions }) => whole(contradictions)],
  ['callers never told', ({ limbo }) => whole(limbo)],
  ['calls not answered in their time', ({ late }) => whole(late)],
  ['minutes', ({ ms }) => (ms / 60_000).toFixed(1)],
];

/** The report as a page. */
export function journalPage(runs: readonly Run[], total: Tally, control: Tally): string {
  const faults = broken({ ...total, unknown: 0 });
  return `# The journal under fire

Written by \`npm run drill:journal -- --markdown FILE\`; the figures are counted, not estimated.

Four server processes, 25 callers each, on one journal. Every act is asked for by two callers of two
processes. Servers are killed with SIGKILL at random and started again; the upstream acts whenever it
is asked to, has no idempotency keys of its own, and meets a share of the writes with faults, most of
them after it has acted. A caller whose answer is lost issues the call again. What was done is counted
from the upstream's own log. The control is the same storm without a journal: it has to show
duplicates, or the storm would prove nothing.

| | with the journal | control, without |
| --- | ---: | ---: |
${rows.map(([label, of]) => `| ${label} | ${of(total)} | ${of(control)} |`).join('\n')}

\`\`\`text
acts done more than once, of a hundred

${bar('without a journal', control)}
${bar('with it', total)}
\`\`\`

${faults.length === 0 ? 'Nothing was done twice, nobody was left waiting, and no two callers were told different things.' : `**Broken:** ${faults.join('; ')}.`} ${aboutUnknown(total)}

| run | store | Node | seed | faults | acts | deaths | duplicates | told "unknown" | minutes |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${runs.map((run) => line(run)).join('\n')}
`;
}

/** Said on the page, too, because the drill fails for it. */
function aboutUnknown({ unknown, acts }: Tally): string {
  if (unknown === 0) return 'What could be known was known.';
  const callers = 2 * acts;
  const share = ((100 * unknown) / callers).toPrecision(1);
  return `${whole(unknown)} of ${whole(callers)} callers (${share} %) were told that nobody knows, of acts that can be read back: those, too, were done at most once, but the drill ends with exit code 1 for it.`;
}

const BAR = 50;

function bar(label: string, { duplicates, acts }: Tally): string {
  const share = duplicates / Math.max(1, acts);
  const figure = (100 * share).toFixed(duplicates > 0 ? 1 : 0).padStart(5);
  return `${label.padEnd(17)}  ${figure}  ${'█'.repeat(Math.round(BAR * share))}`.trimEnd();
}

function line({ at, store, node, seed, faultRate, total }: Run): string {
  const { acts, deaths, duplicates, unknown, ms } = total;
  const cells = [at.slice(0, 10), store, node, seed, `${Math.round(faultRate * 100)} %`];
  const counts = [acts, deaths, duplicates, unknown].map(whole);
  const figures = [...counts, (ms / 60_000).toFixed(1)];
  return `| ${[...cells, ...figures].join(' | ')} |`;
}
