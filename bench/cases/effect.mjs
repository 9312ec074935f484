import { defineCase } from '../lib/case.mjs';
import { retries, timesOut } from '../lib/self-check.mjs';
import { settings } from '../lib/settings.mjs';

export default defineCase({
  name: 'Effect retry + timeout',
  keeps: 'the program that runPromise is given',
  bundle: (packageFor) => `
    import { Effect, Schedule } from '${packageFor('effect')}';
    const { retry, runPromise, timeout, tryPromise } = Effect;
    const { exponential } = Schedule;
    export { exponential, retry, runPromise, timeout, tryPromise };`,
  make: async ({ callee, packageFor }) => {
    const { Effect, Schedule } = await import(packageFor('effect'));
    const program = Effect.tryPromise(() => callee()).pipe(
      Effect.retry({ times: settings.retries, schedule: Schedule.exponential(settings.backoffMs) }),
      Effect.timeout(settings.timeoutMs),
    );
    return { call: () => Effect.runPromise(program), keep: program };
  },
  selfCheck: async (subject) => {
    await retries(subject);
    await timesOut(subject);
  },
});
