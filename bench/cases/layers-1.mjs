import { defineCase } from '../lib/case.mjs';
import { retries } from '../lib/self-check.mjs';
import { fault, fiveLayers, guardedBy } from '../lib/toolkeel.mjs';

export default defineCase({
  name: 'retry',
  make: ({ callee }) => {
    const { retry } = fiveLayers();
    return guardedBy([retry], callee);
  },
  selfCheck: (subject) => retries(subject, fault),
});
