import { defineCase } from '../lib/case.mjs';
import { answers, opensAndCloses, retries, timesOut } from '../lib/self-check.mjs';
import { settings } from '../lib/settings.mjs';
import { withResilience, kernel, presets } from '../lib/toolkeel.mjs';

const { stac } = presets;

/** The preset, but for three waits that the self-check would have to sit through. */
const policy = {
  ...stac,
  initialBackoffMs: settings.backoffMs,
  ...(stac.breaker && { breaker: { ...stac.breaker, openAfterMs: 0, openMs: settings.openMs } }),
};

export default defineCase({
  name: 'guard(fn, presets.stac)',
  keeps: 'the guarded function and an upstream of its own',
  bundle: () => `export { guard, presets } from '${kernel}';`,
  make: ({ callee }) => ({
    call: /** @type {import('../lib/toolkeel.mjs').Callable} */ (
      withResilience(callee, policy, { effect: 'read' })
    ),
  }),
  selfCheck: async (subject) => {
    await answers(subject);
    await retries(subject);
    await timesOut(subject, () => subject.call(undefined, { timeoutMs: settings.timeoutMs }));
    await opensAndCloses(subject);
  },
});
