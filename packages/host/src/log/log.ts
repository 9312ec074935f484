export const LOG_LEVELS = Object.freeze(['debug', 'info', 'warn', 'error'] as const);
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One line: an event's name and its fields. */
export type HostLog = (
  level: LogLevel,
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

export const silent: HostLog = () => {};
