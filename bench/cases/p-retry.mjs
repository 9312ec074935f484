import { defineCase } from '../lib/case.mjs';
import { retries } from '../lib/self-check.mjs';
import { settings } from '../lib/settings.mjs';

export default defineCase({
  name: 'p-retry (retry only)',
  bundle: (packageFor) => `export { default } from '${packageFor('p-retry')}';`,
  make: async ({ callee, packageFor }) => {
    const { default: pRetry } = await import(packageFor('p-retry'));
    const options = { retries: settings.retries, minTimeout: settings.backoffMs };
    return { call: () => pRetry(callee, options) };
  },
  selfCheck: retries,
});
