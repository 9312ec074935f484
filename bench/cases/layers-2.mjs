import { defineCase } from '../lib/case.mjs';
import { retries, timesOut } from '../lib/self-check.mjs';
import { fault, fiveLayers, guardedBy } from '../lib/toolkeel.mjs';

export default defineCase({
  name: 'retry + deadline',
  make: ({ callee }) => {
    const { retry, deadline } = fiveLayers();
    return guardedBy([retry, deadline], callee);
  },
  selfCheck: async (subject) => {
    await retries(subject, fault);
    await timesOut(subject);
  },
});
