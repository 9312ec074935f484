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

type Entry = readonly [level: LogLevel, fields: Readonly<Record<string, unknown>>];

/**
 * JSON lines on stderr, by pino, which is loaded when the first line is to be written: it takes as
 * long to load as a server takes to answer its first request.
 */
export function createLog(options: LogOptions = {}): Log {
  const { level = 'info', scrub = (text) => text, base = {} } = options;
  const write = options.write ?? ((line) => void process.stderr.write(line));
  if (level === 'silent') return { log: () => {}, flush: () => Promise.resolve() };

  const lowest = LOG_LEVELS.indexOf(level);
  const waiting: Entry[] = [];
  let emit = (entry: Entry): void => void waiting.push(entry);
  let loading: Promise<void> | undefined;

  const load = async (): Promise<void> => {
    const { pino } = await import('pino');
    const logger = pino(
      { level, base, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: named } },
      // The line is text by now, so that no field, serializer or nested value can be forgotten.
      { write: (line) => write(scrub(line)) },
    );
    emit = ([to, fields]) => logger[to](fields);
    for (const entry of waiting.splice(0)) emit(entry);
  };
  const log: HostLog = (to, event, fields = {}) => {
    if (LOG_LEVELS.indexOf(to) < lowest) return;
    emit([to, { event, ...plain(fields) }]);
    loading ??= load();
  };
  return { log, flush: async () => loading };
}

function named(label: string): { level: string } {
  return { level: label };
}

function plain(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!('cause' in fields)) return fields;
  return { ...fields, cause: describeCause(fields['cause']) };
}
