export const NEVER = new Promise<never>(() => undefined);

/** A process that can be killed, and stopped for a while, as SIGKILL and SIGSTOP do. */
export interface Life {
  /** Resolves while the process runs; when it is stopped, once it goes on; when it is killed, never. */
  readonly reached: () => Promise<void>;
  readonly kill: () => void;
  readonly stop: () => void;
  readonly resume: () => void;
  readonly isKilled: () => boolean;
}

export function life(): Life {
  let killed = false;
  let stopped: Promise<void> | undefined;
  let resume = (): void => undefined;
  return {
    reached: async () => {
      while (stopped && !killed) await stopped;
      if (killed) await NEVER;
    },
    kill: () => {
      killed = true;
    },
    stop: () => {
      stopped ??= new Promise((resolve) => {
        resume = () => {
          stopped = undefined;
          resolve();
        };
      });
    },
    resume: () => resume(),
    isKilled: () => killed,
  };
}

/** Everything that a process asks of it goes through its life: before it acts, and before it hears of it. */
export function through<T extends object>(target: T, { reached }: Life): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || name === 'onApproved') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        await reached();
        try {
          return await (value.apply(target, args) as Promise<unknown>);
        } finally {
          await reached();
        }
      };
    },
  });
}
