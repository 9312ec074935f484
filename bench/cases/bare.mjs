import { bare } from '../lib/callee.mjs';
import { defineCase } from '../lib/case.mjs';
import { answers } from '../lib/self-check.mjs';

export default defineCase({
  name: 'the bare await once more',
  make: () => ({ call: bare }),
  selfCheck: answers,
});
