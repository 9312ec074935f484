import { GENESIS, hashOf, type AuditHead } from './chain.js';
import type { AuditRow } from './row.js';

export interface AuditProblem {
  readonly kind: 'altered' | 'missing' | 'reordered' | 'cut_off' | 'malformed';
  /** The row at which it shows. */
  readonly seq: number;
  readonly message: string;
}

export interface AuditReport {
  readonly rows: number;
  /** The end of what was read: worth keeping elsewhere. */
  readonly head: AuditHead | undefined;
  /** The first of them; `problemCount` says how many there are. */
  readonly problems: readonly AuditProblem[];
  readonly problemCount: number;
}

const TOLD = 100;

/**
 * Reads the chain from its beginning. Whoever can write the whole database can also write a chain that
 * holds; only `expect`, a head that was kept elsewhere, finds that, and rows that were cut off the end.
 */
export async function verifyAudit(
  rows: Iterable<AuditRow> | AsyncIterable<AuditRow>,
  { expect }: { readonly expect?: AuditHead } = {},
): Promise<AuditReport> {
  const problems: AuditProblem[] = [];
  let problemCount = 0;
  const report = (kind: AuditProblem['kind'], seq: number, message: string): void => {
    problemCount++;
    if (problems.length < TOLD) problems.push({ kind, seq, message });
  };

  let count = 0;
  let last: AuditHead = GENESIS;
  for await (const row of rows) {
    count++;
    for (const [kind, message] of flaws(row, last, expect)) report(kind, row.seq, message);
    // A row that came late has its place before this one, and the chain goes on from here.
    if (row.seq > last.seq) last = { seq: row.seq, hash: row.hash };
  }
  if (expect !== undefined && last.seq < expect.seq) {
    const message = `the chain ends at row ${last.seq}, and row ${expect.seq} was there once`;
    report('cut_off', last.seq, message);
  }
  return { rows: count, head: count === 0 ? undefined : last, problems, problemCount };
}

type Flaw = readonly [kind: AuditProblem['kind'], message: string];

function* flaws(row: AuditRow, last: AuditHead, expect: AuditHead | undefined): Generator<Flaw> {
  const { seq, prev, hash, malformed } = row;
  if (malformed !== undefined) yield ['malformed', `row ${seq} cannot be read: ${malformed}`];
  if (seq <= last.seq) {
    yield ['reordered', `row ${seq} stands behind row ${last.seq}`];
    return;
  }
  if (seq > last.seq + 1) {
    const gone =
      seq === last.seq + 2 ? `row ${seq - 1} is` : `rows ${last.seq + 1} to ${seq - 1} are`;
    yield ['missing', `${gone} missing`];
  } else if (prev !== last.hash) {
    yield ['altered', `row ${seq} does not follow row ${last.seq}: one of them was altered`];
  }
  if (hash !== hashOf(row)) yield ['altered', `row ${seq} was altered: its hash is another one`];
  if (seq === expect?.seq && hash !== expect.hash) {
    yield ['altered', `row ${seq} is not the one that was expected there`];
  }
}
