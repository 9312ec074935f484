import type { FaultKind } from '../faults/kinds.js';

/** The end of a request: answered in full, broken by a fault, or abandoned by its client. */
export type Outcome = 'pending' | 'answered' | 'broken' | 'client-left';

export interface LogEntry {
  readonly id: number;
  /** The arrival, in milliseconds since 1970. */
  readonly at: number;
  /** The listener that the request arrived at. */
  readonly host: string;
  readonly connection: number;
  readonly route: string;
  readonly method: string;
  readonly path: string;
  /** Equal for equal requests: method, path, parameters and body. */
  readonly fingerprint: string;
  /** The names of the request's headers, without their values. */
  readonly headers: readonly string[];
  readonly fault: FaultKind | null;
  readonly status: number | null;
  readonly outcome: Outcome;
  /** The latency of a normal response. */
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
  /** Entries dropped from the log; the counts include them. */
  readonly forgotten: number;
}

type Begin = Omit<LogEntry, 'id' | 'outcome' | 'tookMs' | 'status'>;
type Changes = Partial<Omit<LogEntry, 'id' | 'at'>>;

export type RequestLog = ReturnType<typeof createLog>;

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

/** Keeps the newest `capacity` entries, and counts of all of them. */
export function createLog(capacity = 10_000) {
  let held: Writable<LogEntry>[] = [];
  let lastId = 0;
  let forgotten = 0;
  let tally = createTally();

  return {
    /** Adds a request on arrival, so that one without a response counts too. */
    begin: (entry: Begin) => {
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
      // Drops entries in batches: shifting a large array for each request is slow.
      if (held.length > capacity * 1.2) {
        forgotten += held.length - capacity;
        held = held.slice(-capacity);
      }
      const { add } = tally;
      const update = (changes: Changes): void => {
        add(kept, -1);
        Object.assign(kept, changes);
        add(kept, 1);
      };
      return Object.assign(update, { id: lastId });
    },
    entries: ({ after = 0, route, limit = Infinity }: LogQuery = {}): LogEntry[] =>
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
