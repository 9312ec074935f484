import { defineCase } from '../lib/case.mjs';
import { opensAndCloses, retries, timesOut } from '../lib/self-check.mjs';
import { fault, fiveLayers, guardedBy } from '../lib/toolkeel.mjs';

export default defineCase({
  name: 'retry + deadline + breaker + budget',
  make: ({ callee }) => {
    const { retry, deadline, breaker, budget } = fiveLayers();
    return guardedBy([retry, deadline, breaker, budget], callee);
  },
  selfCheck: async (subject) => {
    await retries(subject, fault);
    await timesOut(subject);
    await opensAndCloses(subject, fault);
  },
});
