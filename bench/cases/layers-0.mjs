import { defineCase } from '../lib/case.mjs';
import { answers } from '../lib/self-check.mjs';
import { guardedBy } from '../lib/toolkeel.mjs';

export default defineCase({
  name: 'no layer at all',
  make: ({ callee }) => guardedBy([], callee),
  selfCheck: answers,
});
