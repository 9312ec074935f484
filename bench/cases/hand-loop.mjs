import { defineCase } from '../lib/case.mjs';
import { retryLoop } from '../lib/hand-loop.mjs';
import { retries } from '../lib/self-check.mjs';

export default defineCase({
  name: 'a loop written by hand (retry only)',
  keeps: 'a closure',
  make: ({ callee }) => ({ call: retryLoop(callee) }),
  selfCheck: (subject) => retries(subject),
});
