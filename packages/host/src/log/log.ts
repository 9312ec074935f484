export const LOG_LEVELS = Object.freeze(['debug', 'info', 'warn', 'error'] as const);
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Logs an event with its fields. */
export interface HostLog {
  (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Whether events of a level are logged; absent if all are. Saves the caller the fields of the others. */
  readonly isEnabled?: (level: LogLevel) => boolean;
}

export const silent: HostLog = Object.assign(() => {}, { isEnabled: () => false });

export interface LogOptions {
  /** Default: `info`. */
  readonly level?: LogLevel | 'silent';
  /** Receives finished lines. Default: stderr. */
  readonly write?: (line: string) => void;
  /** Redacts secrets in every line. */
  readonly scrub?: (text: string) => string;
  /** Fields of every line. */
  readonly base?: Readonly<Record<string, unknown>>;
}

export interface Log {
  readonly log: HostLog;
  /** Resolves when all lines are written. */
  readonly flush: () => Promise<void>;
}

interface Entry {
  readonly level: LogLevel;
  readonly at: number;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The delay of a batch: writing a line takes longer than a quick call. */
const BATCH_MS = 25;
/** The delay of the first batch, so that the first response does not wait until pino is loaded. */
const FIRST_BATCH_MS = 250;
const MAX_CAUSE_DEPTH = 5;
const MAX_STACK = 4000;

/** Writes the lines of each log that has some in its queue. One listener serves all logs. */
const atExit = new Set<() => void>();
const writeAll = (): void => atExit.forEach((write) => write());

/**
 * Writes JSON lines to stderr with pino. Loading pino takes as long as a server takes to answer its
 * first request, so it is loaded when the first line is written.
 */
export function createLog(options: LogOptions = {}): Log {
  const { level = 'info', scrub = (text) => text, base = {} } = options;
  const write = options.write ?? ((text) => void process.stderr.write(text));
  if (level === 'silent') return { log: silent, flush: () => Promise.resolve() };

  const threshold = LOG_LEVELS.indexOf(level);
  const lines: string[] = [];
  const queue: Entry[] = [];
  let emit: ((entry: Entry) => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const heads = new Map<LogLevel, string>();
  const headOf = (to: LogLevel): string => {
    const head = heads.get(to) ?? JSON.stringify({ level: to, ...base }).slice(0, -1);
    heads.set(to, head);
    return head;
  };

  // The last lines explain why a process exits, also one that exits before pino is loaded.
  const writeAtExit = (): void => {
    emit ??= (entry) => {
      const line = { level: entry.level, ...base, ...membersOf(entry, scrub) };
      lines.push(`${JSON.stringify(line)}\n`);
    };
    writeQueue();
  };
  const writeQueue = (): void => {
    timer = undefined;
    if (!emit) return;
    if (atExit.delete(writeAtExit) && atExit.size === 0) process.off('exit', writeAll);
    for (const entry of queue.splice(0)) {
      const line = lineOf(headOf(entry.level), entry);
      if (line === undefined) emit(entry);
      else lines.push(line);
    }
    const taken = lines.splice(0);
    const text = taken.join('');
    if (text === '') return;
    // Redacts line by line, because each line has to stay a valid JSON document. Few contain a secret.
    write(scrub(text) === text ? text : taken.map(scrub).join(''));
  };
  const flush = async (): Promise<void> => {
    if (queue.length === 0) return;
    clearTimeout(timer);
    emit ??= await loadPino({ level, base, scrub }, (line) => lines.push(line));
    writeQueue();
  };
  const enabled: ReadonlySet<LogLevel> = new Set(LOG_LEVELS.slice(threshold));
  const isEnabled = (to: LogLevel): boolean => enabled.has(to);
  const add: HostLog = (to, event, fields = {}) => {
    if (!isEnabled(to)) return;
    queue.push({ level: to, at: Date.now(), event, fields });
    if (atExit.size === 0) process.once('exit', writeAll);
    atExit.add(writeAtExit);
    timer ??= setTimeout(() => void flush(), emit ? BATCH_MS : FIRST_BATCH_MS);
  };
  return { log: Object.assign(add, { isEnabled }), flush };
}

async function loadPino(
  { level, base, scrub }: Required<Pick<LogOptions, 'level' | 'base' | 'scrub'>>,
  write: (line: string) => void,
): Promise<(entry: Entry) => void> {
  const { pino } = await import('pino');
  const formatters = { level: (label: string) => ({ level: label }) };
  const logger = pino({ level, base, timestamp: false, formatters }, { write });
  return (entry) => logger[entry.level](membersOf(entry, scrub));
}

/** Many entries have the same time. */
let [lastAt, lastTime] = [0, new Date(0).toISOString()];

function timeOf(at: number): string {
  if (at !== lastAt) [lastAt, lastTime] = [at, new Date(at).toISOString()];
  return lastTime;
}

function membersOf(
  { at, event, fields }: Entry,
  scrub: (text: string) => string,
): Record<string, unknown> {
  const members = { time: timeOf(at), event, ...fields };
  return 'cause' in fields ? { ...members, cause: describeCause(fields['cause'], scrub) } : members;
}

/** The line of an entry with scalar fields only, as most are, in a fraction of pino's time. */
function lineOf(head: string, { at, event, fields }: Entry): string | undefined {
  let line = `${head},"time":"${timeOf(at)}","event":${JSON.stringify(event)}`;
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    const type = typeof value;
    if (type !== 'string' && type !== 'number' && type !== 'boolean') return undefined;
    line += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  return `${line}}\n`;
}

/** A thrown value as a field of a log line: name, message, stack and its own cause. */
function describeCause(cause: unknown, scrub: (text: string) => string, depth = 0): unknown {
  if (!(cause instanceof Error)) return describeThrown(cause);
  const { name, message, stack = '', cause: inner } = cause;
  const code: unknown = 'code' in cause ? cause.code : undefined;
  return {
    name,
    message,
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    // Redacted first: the rest of a secret that is cut would not be recognised.
    stack: stack.length > MAX_STACK ? scrub(stack).slice(0, MAX_STACK) : stack,
    ...(inner !== undefined &&
      depth < MAX_CAUSE_DEPTH && { cause: describeCause(inner, scrub, depth + 1) }),
  };
}

/** Any value can be thrown, including one that cannot be serialized. */
function describeThrown(thrown: unknown): unknown {
  try {
    if (typeof thrown === 'object' && thrown !== null) {
      return JSON.parse(JSON.stringify(thrown) ?? 'null') as unknown;
    }
    return String(thrown);
  } catch {
    return 'a value that cannot be serialized';
  }
}
