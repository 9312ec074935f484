import type { FaultKind } from '../faults/kinds.js';

/** What became of a request: answered in full, broken by us on purpose, or given up by its client. */
export type Outcome = 'pending' | 'answered' | 'broken' | 'client-left';

export interface LogEntry {
  readonly id: number;
  /** When it arrived, in milliseconds since 1970. */
  readonly at: number;
  /** Which of the upstream's addresses it came to. */
  readonly host: string;
  /** Which connection it came on. */
  readonly connection: number;
  readonly route: string;
  readonly method: string;
  readonly path: string;
  /** Equal for equal requests: method, path, parameters and body. */
  readonly fingerprint: string;
  /** Names of the headers that came, without their values. */
  readonly headers: readonly string[];
  readonly fault: FaultKind | null;
  readonly status: number | null;
  readonly outcome: Outcome;
  /** How long a normal answer would have taken. */
  readonly latencyMs: number;
  readonly tookMs: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface LogQuery {
  /** Only entries after this id. */
  readonly after?: number;
  readonly route?: string;
  readonly limit?: number;
}

export interface Counts {
  readonly requests: number;
  readonly byRoute: Readonly<Record<string, number>>;
  readonly byFault: Readonly<Record<string, number>>;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly byOutcome: Readonly<Record<string, number>>;
  /** Entries that the log no longer holds; the counts include them. */
  readonly forgotten: number;
}

type Begin = Omit<LogEntry, 'id' | 'outcome' | 'tookMs' | 'status'>;
type Changes = Partial<Omit<LogEntry, 'id' | 'at'>>;

/** Changes an entry of the log. */
interface Note {
  (changes: Changes): void;
  readonly id: number;
}

export interface RequestLog {
  /** Enters a request as it arrives, so that one without an answer counts too. */
  readonly begin: (entry: Begin) => Note;
  readonly entries: (query?: LogQuery) => LogEntry[];
  readonly counts: () => Counts;
  readonly clear: () => void;
}

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

/** Holds the newest entries, at most `capacity` of them; counts go on. */
export function createLog(capacity = 10_000): RequestLog {
  let held: Writable<LogEntry>[] = [];
  let lastId = 0;
  let forgotten = 0;
  let tally = createTally();

  return {
    begin: (entry) => {
      lastId += 1;
      const kept: Writable<LogEntry> = {
        ...entry,
        id: lastId,
        outcome: 'pending',
        tookMs: null,
        status: null,
      };
      held.push(kept);
      tally.add(kept, 1);
      // Dropped in batches: shifting a large array for each request is slow.
      if (held.length > capacity * 1.2) {
        forgotten += held.length - capacity;
        held = held.slice(-capacity);
      }
      const { add } = tally;
      const note = (changes: Changes): void => {
        add(kept, -1);
        Object.assign(kept, changes);
        add(kept, 1);
      };
      return Object.assign(note, { id: lastId });
    },
    entries: ({ after = 0, route, limit = Infinity } = {}) =>
      held
        .slice(-capacity)
        .filter((entry) => entry.id > after && (route === undefined || entry.route === route))
        .slice(0, limit)
        .map((entry) => ({ ...entry })),
    counts: () => tally.read(forgotten + Math.max(0, held.length - capacity)),
    clear: () => {
      held = [];
      forgotten = 0;
      tally = createTally();
    },
  };
}

function createTally() {
  const column = (): Map<string, number> => new Map();
  const columns = { route: column(), fault: column(), status: column(), outcome: column() };
  let requests = 0;
  const bump = (to: Map<string, number>, key: string | number | null, by: number): void => {
    if (key !== null) to.set(String(key), (to.get(String(key)) ?? 0) + by);
  };
  const table = (from: Map<string, number>): Record<string, number> =>
    Object.fromEntries([...from].filter(([, count]) => count > 0));
  return {
    add: (entry: LogEntry, by: 1 | -1): void => {
      requests += by;
      bump(columns.route, entry.route, by);
      bump(columns.fault, entry.fault, by);
      bump(columns.status, entry.status, by);
      bump(columns.outcome, entry.outcome, by);
    },
    read: (forgotten: number): Counts => ({
      requests,
      byRoute: table(columns.route),
      byFault: table(columns.fault),
      byStatus: table(columns.status),
      byOutcome: table(columns.outcome),
      forgotten,
    }),
  };
}
