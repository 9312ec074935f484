import { faulted, type Faulted, type RunClock, type Tool, type ToolSpec } from '@toolkeel/contract';

/** What can be called, and how: a tool that is there or that comes with its pack. */
export interface Callable {
  readonly spec: ToolSpec;
  readonly load: () => Tool | Promise<Tool>;
  readonly timeoutMs: number;
  /** As metrics and logs know it, where that is not the tool's name. */
  readonly name?: string;
  readonly byteBudget?: number;
  /** Whether the kernel's events tell all retries; otherwise the handler may note some itself. */
  readonly reportsEvents: boolean;
}

/**
 * The tool, once its pack is there, and never later than `until`. A tool whose pack cannot be
 * created still answers with an envelope, and the log has the cause.
 */
export function loadTool(
  { spec, load }: Callable,
  until: number,
  clock: RunClock,
): Tool | Promise<Tool> {
  // By its check already: nobody has to approve what cannot be carried out.
  const standIn = (end: () => Faulted): Tool => ({ ...spec, check: end, handler: end });
  const failing = (cause: unknown): Tool =>
    standIn(() => {
      throw cause;
    });
  const late = (): Tool =>
    standIn(() => faulted({ kind: 'timeout', clock: 'deadline', sent: 'no' }));
  try {
    const tool = load();
    if (!(tool instanceof Promise)) return tool;
    return new Promise((resolve) => {
      const timer = clock.setTimer(Math.max(0, until - clock.now()), () => resolve(late()));
      const settle = (loaded: Tool): void => {
        clock.clearTimer(timer);
        resolve(loaded);
      };
      tool.then(settle, (cause: unknown) => settle(failing(cause)));
    });
  } catch (cause) {
    return failing(cause);
  }
}
