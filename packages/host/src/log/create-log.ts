import { describeCause } from './describe-cause.js';
import { LOG_LEVELS, type HostLog, type LogLevel } from './log.js';

export interface LogOptions {
  /** Default: `info`. */
  readonly level?: LogLevel | 'silent';
  /** Takes finished lines. Default: stderr. A reader for people can be put here. */
  readonly write?: (line: string) => void;
  /** Takes secrets out of every line. */
  readonly scrub?: (text: string) => string;
  /** Stands in every line. */
  readonly base?: Readonly<Record<string, unknown>>;
}

export interface Log {
  readonly log: HostLog;
  /** Resolves when all that was said is written. */
  readonly flush: () => Promise<void>;
}

interface Entry {
  readonly level: LogLevel;
  readonly at: number;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** How long a line may wait for others: writing one takes longer than a quick call. */
const BATCH_MS = 25;
/** The first lines wait longer: the answer that they are about should not have to wait for pino. */
const FIRST_BATCH_MS = 250;

/**
 * JSON lines on stderr, by pino. It takes as long to load as a server takes to answer its first
 * request, so it is loaded when the first line is to be written.
 */
export function createLog(options: LogOptions = {}): Log {
  const { level = 'info', scrub = (text) => text, base = {} } = options;
  const write = options.write ?? ((text) => void process.stderr.write(text));
  if (level === 'silent') return { log: () => {}, flush: () => Promise.resolve() };

  const lowest = LOG_LEVELS.indexOf(level);
  const lines: string[] = [];
  const waiting: Entry[] = [];
  let emit: ((entry: Entry) => void) | undefined;
  let timer: NodeJS.Timeout | undefined;

  const writeOut = (): void => {
    timer = undefined;
    if (!emit) return;
    for (const entry of waiting.splice(0)) emit(entry);
    // Line by line: each is a JSON document, and stays one.
    const text = lines.splice(0).map(scrub).join('');
    if (text !== '') write(text);
  };
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return;
    clearTimeout(timer);
    emit ??= await loadPino({ level, base }, (line) => lines.push(line));
    writeOut();
  };
  // Whoever ends the process still wants to know why, also before pino is there.
  process.once('exit', () => {
    emit ??= ({ level: to, at, event, fields }) => {
      const line = {
        level: to,
        time: new Date(at).toISOString(),
        ...base,
        event,
        ...plain(fields),
      };
      lines.push(`${JSON.stringify(line)}\n`);
    };
    writeOut();
  });
  const log: HostLog = (to, event, fields = {}) => {
    if (LOG_LEVELS.indexOf(to) < lowest) return;
    waiting.push({ level: to, at: Date.now(), event, fields });
    timer ??= setTimeout(() => void flush(), emit ? BATCH_MS : FIRST_BATCH_MS);
  };
  return { log, flush };
}

async function loadPino(
  { level, base }: Required<Pick<LogOptions, 'level' | 'base'>>,
  write: (line: string) => void,
): Promise<(entry: Entry) => void> {
  const { pino } = await import('pino');
  const logger = pino({ level, base, timestamp: false, formatters: { level: named } }, { write });
  return ({ level: to, at, event, fields }) =>
    logger[to]({ time: new Date(at).toISOString(), event, ...plain(fields) });
}

function named(label: string): { level: string } {
  return { level: label };
}

function plain(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!('cause' in fields)) return fields;
  return { ...fields, cause: describeCause(fields['cause']) };
}
